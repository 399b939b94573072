/**
 * Bytes as no client should send them: damaged requests, wrong lengths, several at once, garbage.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'
import { oddHeaders } from '../requests/headers.js'
import { type HttpText, randomHttpText } from '../requests/http-text.js'
import type { FuzzWorld } from '../world.js'

export function randomBytes(world: FuzzWorld, random: Random): Buffer {
  return random.pick(ways)(world, random)
}

type Way = (world: FuzzWorld, random: Random) => Buffer

const ways: readonly Way[] = [
  oddlyHeaded,
  flipped,
  flipped,
  truncated,
  truncated,
  withGarbage,
  withGarbage,
  wronglyMeasured,
  wronglyMeasured,
  wronglyChunked,
  wronglyChunked,
  pipelined,
  pipelined,
  otherLines,
  garbage,
  otherProtocol,
]

function whole(world: FuzzWorld, random: Random): Buffer {
  return joined(randomHttpText(world, random))
}

function joined({ head, body }: HttpText): Buffer {
  return Buffer.concat([head, body])
}

function oddlyHeaded(world: FuzzWorld, random: Random): Buffer {
  return joined(randomHttpText(world, random, oddHeaders(random)))
}

/** Most often in the head, of which every byte matters. */
function flipped(world: FuzzWorld, random: Random): Buffer {
  const { head, body } = randomHttpText(world, random)
  const bytes = Buffer.concat([head, body])
  const count = random.pick([1, 1, 2, 5, 20])
  for (let flip = 0; flip < count; flip++) {
    const end = random.unit() < 0.7 ? head.length : bytes.length
    bytes[random.between(0, end - 1)] ^= 1 << random.between(0, 7)
  }
  return bytes
}

function truncated(world: FuzzWorld, random: Random): Buffer {
  const { head, body } = randomHttpText(world, random)
  const bytes = Buffer.concat([head, body])
  return bytes.subarray(0, random.between(0, random.pick([head.length, bytes.length])))
}

function withGarbage(world: FuzzWorld, random: Random): Buffer {
  const bytes = whole(world, random)
  const at = random.between(0, bytes.length)
  const skipped = random.pick([0, 0, 1, 10])
  return Buffer.concat([
    bytes.subarray(0, at),
    garbage(world, random),
    bytes.subarray(at + skipped),
  ])
}

const lengths: readonly string[] = [
  ...['0', '1', '-1', '+5', '0x10', '1e3', '4294967296', '18446744073709551616', '', ' ', '5, 5'],
  ...['4194304', '4194305', '71303169', '99999999999999999999', '00000005', '5;', 'abc', '\t3'],
]

function wronglyMeasured(world: FuzzWorld, random: Random): Buffer {
  const { head, body } = randomHttpText(world, random)
  const length =
    random.unit() < 0.5 ? random.pick(lengths) : `${body.length + random.between(-9, 9)}`
  const line = `Content-Length: ${length}\r\n`
  const text = head.toString('latin1')
  const declared = /Content-Length: \d+\r\n/
  const changed = declared.test(text)
    ? text.replace(declared, random.unit() < 0.8 ? line : `$&${line}`)
    : text.replace(/\r\n$/, `${line}\r\n`)
  return Buffer.concat([Buffer.from(changed, 'latin1'), body])
}

const chunkParts: readonly string[] = [
  ...[
    '5\r\nhello\r\n',
    '0\r\n\r\n',
    '5;x=y\r\nhello\r\n',
    '5 ;"\r\nhello\r\n',
    'FFFFFFFF\r\n',
    '-1\r\n',
  ],
  ...[
    'ffffffffffffffff1\r\nx',
    '5\nhello\n',
    'g\r\n',
    '\r\n',
    '5\r\nhel',
    '0\r\nTrailer: x\r\n\r\n',
  ],
  ...[
    '00000000000000000005\r\nhello\r\n',
    '5\r\nhello!!',
    '400001\r\n',
    '2\r\n{}\r\n',
    '0x5\r\nhello',
  ],
]

function wronglyChunked(_: FuzzWorld, random: Random): Buffer {
  const length = random.unit() < 0.3 ? `Content-Length: ${random.between(0, 20)}\r\n` : ''
  const coding = random.pick([
    'chunked',
    'Chunked',
    'gzip, chunked',
    'chunked, chunked',
    ' chunked',
  ])
  const start = 'POST /api/recipients HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n'
  const parts = Array.from({ length: random.between(1, 6) }, () => random.pick(chunkParts))
  const head = `${start}${length}Transfer-Encoding: ${coding}\r\n\r\n`
  return Buffer.from(head + parts.join(''), 'latin1')
}

function pipelined(world: FuzzWorld, random: Random): Buffer {
  const count = random.pick([2, 2, 3, 10])
  return Buffer.concat(Array.from({ length: count }, () => whole(world, random)))
}

/** The same with other line ends, another version, or what is there twice. */
function otherLines(world: FuzzWorld, random: Random): Buffer {
  const { head, body } = randomHttpText(world, random)
  const text = head.toString('latin1')
  const changed = random.pick([
    () => text.replaceAll('\r\n', '\n'),
    () => text.replaceAll('\r\n', '\r'),
    () =>
      text.replace('HTTP/1.1', random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', ''])),
    () => text.replace(/\r\n$/, ''),
    () => text.replace(' ', random.pick(['  ', '\t', ''])),
    () => text.replace(/ \S+ /, random.pick([' * ', ' http://x/livez ', ' x ', ' '])),
    () => text.replace(/Host: .*\r\n/, ''),
    () => text.repeat(2),
    () => `\r\n\r\n${text}`,
    () => text.replace('\r\n', `\r\n${'A'.repeat(random.pick([4_090, 70_000]))}: 1\r\n`),
  ])()
  return Buffer.concat([Buffer.from(changed, 'latin1'), body])
}

function garbage(_: FuzzWorld, random: Random): Buffer {
  const bytes = Buffer.alloc(random.pick([1, 4, 30, 300, 5_000]))
  const span = random.pick([256, 128, 4])
  for (let at = 0; at < bytes.length; at++) bytes[at] = random.between(0, span - 1)
  return bytes
}

const protocols: readonly Buffer[] = [
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('160301002f0100002b0303', 'hex'),
  Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'),
  Buffer.from('PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n'),
  Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex'),
  Buffer.from('*1\r\n$4\r\nPING\r\n'),
  Buffer.from('GET /livez\r\n'),
  Buffer.from('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'),
]

function otherProtocol(_: FuzzWorld, random: Random): Buffer {
  return random.pick(protocols)
}
