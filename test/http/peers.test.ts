/**
 * Who is at the other end: the TLS thread says so in front of each connection, and nobody else can.
 *
 * @module
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import { allocatePeers, PeerReader, PeerWriter, proxyHeader } from '../../src/tls/peers.js'
import { engine } from '../support/service/engine.js'
import { Client, requestText, startServer } from './wire.js'

const CERTIFICATE = Buffer.alloc(32, 0xab)
const CLIENT = Uint8Array.of(203, 0, 113, 7)

const routes: Route<Handler>[] = [
  {
    path: '/who',
    methods: {
      GET: ({ peerAddress, clientCertificate }, reply) =>
        reply.send(200, {}, `${peerAddress} ${clientCertificate}`),
    },
  },
]

const directory = mkdtempSync(join(tmpdir(), 'hickory-peers-'))
t.teardown(() => rmSync(directory, { recursive: true }))

t.test('a connection of the TLS thread is that of its client', async (t) => {
  const { answerTo, writer } = await startBehindTls(t, 'one')
  const handle = writer.add(CLIENT, CERTIFICATE) as Uint8Array
  const header = Buffer.from(proxyHeader(handle))
  const get = requestText('GET /who')
  const expected = `203.0.113.7 ${CERTIFICATE.toString('hex')}`
  t.match(await answerTo([header, get]), expected)
  t.match(await answerTo([Buffer.concat([header, Buffer.from(get)])]), expected, 'in one piece')
  const pieces = Array.from(header, (byte) => Buffer.of(byte))
  t.match(await answerTo([...pieces, get]), expected, 'byte by byte')
  const twice = await answerTo([header, get, get])
  t.equal(twice.split(expected).length, 3, 'for each of its requests')
})

t.test('a client that sends such a header is nobody, and learns nothing', async (t) => {
  const { answerTo, writer } = await startBehindTls(t, 'two')
  const own = Buffer.from(proxyHeader(writer.add(CLIENT, undefined) as Uint8Array))
  const other = writer.add(Uint8Array.of(127, 0, 0, 1), CERTIFICATE) as Uint8Array
  const get = Buffer.from(requestText('GET /who'))
  const guessed = Uint8Array.from(other)
  guessed[15] ^= 1
  const forgeries: [what: string, header: Buffer][] = [
    ['a token that is nearly right', Buffer.from(proxyHeader(guessed))],
    ['zeros', Buffer.from(proxyHeader(new Uint8Array(16)))],
    ['an address of IPv4', ipv4Header('127.0.0.1')],
    ['an address of IPv6', Buffer.from(proxyHeader(Uint8Array.of(...new Uint8Array(15), 1)))],
  ]
  for (const [what, header] of forgeries) {
    const answer = await answerTo([own, get, Buffer.concat([header, get])])
    t.match(answer, /^HTTP\/1\.1 200 [\s\S]*203\.0\.113\.7 undefined/, what)
    // Behind the first request, node:http takes it for a request that is none.
    const why = engine.name === 'uws' ? /HTTP\/1\.1 400 [\s\S]*PROXY header/ : /HTTP\/1\.1 400 /
    t.match(answer, why, what)
    t.notMatch(answer, /127\.0\.0\.1|abab/, what)
    t.match(
      await answerTo([Buffer.concat([header, get])]),
      /^HTTP\/1\.1 400 /,
      `${what}, as the first`,
    )
  }
  t.match(await answerTo([get]), /^HTTP\/1\.1 400 /, 'without any header')
})

t.test('without TLS, such a header changes nothing, or is refused', async (t) => {
  const { port } = await startServer(t, routes)
  const writer = new PeerWriter(allocatePeers(1))
  const header = proxyHeader(writer.add(CLIENT, CERTIFICATE) as Uint8Array)
  for (const sent of [header, ipv4Header('203.0.113.7')]) {
    const client = new Client(port)
    client.write(sent)
    client.write(requestText('GET /who'))
    const { status, body } = await client.answer()
    if (engine.name === 'node') t.equal(status, 400)
    else t.equal(String(body), '127.0.0.1 undefined')
    client.socket.destroy()
  }
})

async function startBehindTls(t: Parameters<typeof startServer>[0], name: string) {
  const memory = allocatePeers(16)
  const { server } = await startServer(t, routes, { peers: new PeerReader(memory) })
  const path = join(directory, name)
  // It listens on a port as well, where nothing comes in with a header that it knows.
  await server.listenOnPath(path)
  return {
    writer: new PeerWriter(memory),
    /** Sends pieces one after another, and reads until the server closes or nothing comes. */
    async answerTo(pieces: readonly (string | Uint8Array)[]): Promise<string> {
      const socket = connect(path)
      let read = ''
      socket.on('data', (bytes) => {
        read += bytes
      })
      const closed = once(socket, 'close')
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
      socket.destroy()
      await closed
      return read
    },
  }
}

function ipv4Header(address: string): Buffer {
  const header = Buffer.alloc(28)
  Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex').copy(header)
  header.set(address.split('.').map(Number), 16)
  return header
}
