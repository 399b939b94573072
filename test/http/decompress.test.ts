/**
 * Unpacking of request bodies: all that was sent or nothing, and never more than is allowed.
 *
 * @module
 */
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
} from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { decompress } from '../../src/http/decompress.js'
import { limits } from '../../src/limits.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

const { BROTLI_PARAM_QUALITY } = constants

/** Each way to pack, and the name it goes by. */
const packers: readonly [encoding: string, pack: (bytes: Uint8Array) => Buffer][] = [
  ['gzip', (bytes) => gzipSync(bytes)],
  ['x-gzip', (bytes) => gzipSync(bytes)],
  [' GZip ', (bytes) => gzipSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes, { level: 0, windowBits: 9 })],
  ['deflate', (bytes) => deflateRawSync(bytes)],
  ['deflate', (bytes) => deflateRawSync(bytes, { level: 0 })],
  ['br', (bytes) => brotliCompressSync(bytes, { params: { [BROTLI_PARAM_QUALITY]: 1 } })],
]

t.test('what was packed comes out', async (t) => {
  const seed = testSeed(t)
  for (const [encoding, pack] of packers) {
    const property = fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
      const unpacked = await decompress(pack(bytes), encoding, 2_000)
      t.ok(Buffer.from(unpacked).equals(bytes), encoding)
    })
    await fc.assert(property, { seed, numRuns: byTier({ ci: 25, soak: 100 }) })
  }
})

t.test('a body of several gzip members is one body', async (t) => {
  const members = Buffer.concat([gzipSync('ab'), gzipSync('cd')])
  t.equal(gunzipSync(members).toString(), 'abcd')
  t.equal(Buffer.from(await decompress(members, 'gzip', 4)).toString(), 'abcd')
  await t.rejects(decompress(members, 'gzip', 3), { code: 'BodyTooLarge' })
})

t.test('a body that is not packed stays as it is, and an empty one is empty', async (t) => {
  const bytes = Buffer.from('{}')
  t.equal(await decompress(bytes, 'identity', 10), bytes)
  for (const encoding of ['gzip', 'deflate', 'br']) {
    t.equal((await decompress(new Uint8Array(0), encoding, 10)).length, 0)
  }
})

t.test('a body is let through at the limit and refused one byte past it', async (t) => {
  for (const [encoding, pack] of packers) {
    const packed = pack(Buffer.alloc(100_000, 'hickory'))
    t.equal((await decompress(packed, encoding, 100_000)).length, 100_000)
    await t.rejects(decompress(packed, encoding, 99_999), {
      code: 'BodyTooLarge',
      status: 413,
      message: 'the body is larger than 99999 bytes when unpacked',
    })
  }
})

t.test('unpacking stops at the limit, whatever comes after it', async (t) => {
  const zeros = Buffer.alloc(4 * limits.bodyBytes)
  for (const [encoding, pack] of packers) {
    const bomb = pack(zeros)
    // Going on would find that the rest is missing, and call it broken.
    const cut = bomb.subarray(0, bomb.length >> 1)
    await t.rejects(decompress(cut, encoding, limits.bodyBytes), { code: 'BodyTooLarge' }, encoding)
  }
})

t.test('broken, cut and garbled bodies are refused, and never quoted', async (t) => {
  const refusal = {
    code: 'InvalidRequest',
    status: 400,
    message: 'the body is not what its Content-Encoding says',
  }
  const text = Buffer.from('{"countsOnly":true}')
  for (const [encoding, pack] of packers) {
    const packed = pack(text)
    const garbage: readonly [what: string, bytes: Uint8Array][] = [
      ['cut', packed.subarray(0, -1)],
      ['cut in two', packed.subarray(0, packed.length >> 1)],
      ['followed by text', Buffer.concat([packed, text])],
      ['followed by a zero', Buffer.concat([packed, Buffer.alloc(1)])],
      ['not packed', text],
    ]
    for (const [what, bytes] of garbage) {
      await t.rejects(decompress(bytes, encoding, 1_000), refusal, `${encoding}, ${what}`)
    }
  }
  const checked = gzipSync(text)
  checked[checked.length - 6] ^= 1
  await t.rejects(decompress(checked, 'gzip', 1_000), refusal, 'a wrong checksum')
})

t.test('an encoding that is not known, or several, are refused', async (t) => {
  for (const encoding of ['', 'zstd', 'compress', 'gzip, br', 'gzip,gzip', 'identity, gzip']) {
    const refused = { code: 'UnsupportedEncoding', status: 415 }
    await t.rejects(decompress(gzipSync('{}'), encoding, 1_000), refused, encoding)
  }
})

t.test(
  'bodies are unpacked a few at a time, and those that wait have a bound together',
  async (t) => {
    const body = Buffer.alloc(limits.bodyBytes)
    const waitingCount = Math.floor(limits.heldBodyBytes / limits.bodyBytes)
    const codes = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          decompress(body, 'gzip', limits.bodyBytes).catch(({ code }) => String(code)),
        ),
      )
    const fitting = limits.bodiesUnpackedCount + waitingCount
    for (let round = 0; round < 2; round++) {
      t.strictSame(new Set(await codes(fitting)), new Set(['InvalidRequest']))
      const answers = await codes(fitting + 1)
      t.equal(answers.pop(), 'Overloaded')
      t.strictSame(new Set(answers), new Set(['InvalidRequest']))
    }
  },
)

t.test(
  'a body whose turn does not come in time is refused, and the next ones are not',
  async (t) => {
    const bomb = gzipSync(Buffer.alloc(limits.bodyBytes))
    const unpack = () => decompress(bomb, 'gzip', limits.bodyBytes)
    const first = Array.from({ length: limits.bodiesUnpackedCount + 20 }, unpack)
    const { requestMs } = limits
    Object.assign(limits, { requestMs: 0 })
    const late = Array.from({ length: 5 }, () =>
      unpack().then(
        () => 'unpacked',
        ({ code }) => String(code),
      ),
    )
    Object.assign(limits, { requestMs })
    t.same(await Promise.all(late), Array(5).fill('Overloaded'))
    for (const { length } of await Promise.all([...first, unpack()]))
      t.equal(length, limits.bodyBytes)
  },
)
