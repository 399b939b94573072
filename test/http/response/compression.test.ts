/**
 * Compression of answers: when, and that nothing gets lost in it.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { compressedSink, encodingOf } from '../../../src/http/response/compression.js'
import { testSeed } from '../../support/random/properties.js'
import { type MemorySink, memorySink } from '../../support/service/memory-sink.js'

const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
type Encoding = keyof typeof unpack
const encodings = Object.keys(unpack) as Encoding[]

t.test('an answer is compressed as the client likes best, br of equals', async (t) => {
  const cases: [acceptEncoding: string | undefined, Encoding | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip,br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['br;q=0,gzip;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['gzip, *;q=0', 'gzip'],
    ['identity', undefined],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity;q=0, *', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.6', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['gzip;q=0.001', 'gzip'],
    ['deflate, compress, zstd', undefined],
    ['x-gzip', undefined],
    ['gzip;q=abc', undefined],
    [';;,,=,q', undefined],
  ]
  for (const [header, encoding] of cases) t.equal(encodingOf(header), encoding, header ?? 'absent')
})

t.test('what is unpacked is what was written, in whatever pieces', async (t) => {
  const seed = testSeed(t)
  for (const encoding of encodings) {
    const piecesOf = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 3_000 }),
        fc.nat(400_000).map((length) => new Uint8Array(length).fill(length % 7)),
        fc.nat(200_000).map((length) => randomBytes(length)),
      ),
      { maxLength: 6 },
    )
    const property = fc.asyncProperty(piecesOf, fc.boolean(), async (pieces, isSlow) => {
      const behind = memorySink(() => !isSlow)
      await write(behind, encoding, pieces)
      t.ok(unpack[encoding](behind.bytes()).equals(Buffer.concat(pieces)), encoding)
      t.equal(behind.rudeCount, 0)
      t.equal(behind.endCount, 1)
    })
    await fc.assert(property, { seed, numRuns: 40 })
  }
})

t.test('a list becomes much smaller', async (t) => {
  const rows = Array.from({ length: 4_096 }, (_, i) =>
    JSON.stringify({
      Number: `+999${(i * 7_919_177) % 100_000_007}`,
      LatLng: { Lat: 42 + ((i * 31) % 9_973) / 1e5, Lng: -71 - ((i * 37) % 9_973) / 1e5 },
    }),
  )
  const text = Buffer.from(rows.join())
  for (const encoding of encodings) {
    const behind = memorySink()
    await write(behind, encoding, [text])
    t.ok(behind.receivedBytes < text.length / 3, `${encoding}: ${behind.receivedBytes} bytes`)
  }
})

t.test('memory does not grow with what a slow client has yet to take', async (t) => {
  const pieceBytes = 300_000
  for (const encoding of encodings) {
    const behind = memorySink(() => false)
    const sink = compressedSink(behind, encoding)
    const draining = setInterval(() => behind.drain(), 0)
    let sentBytes = 0
    let most = 0
    for (let count = 0; count < 40; count++) {
      // Bytes that cannot be compressed come out as they went in.
      const taken = sink.write(randomBytes(pieceBytes))
      sentBytes += pieceBytes
      most = Math.max(most, sentBytes - behind.receivedBytes)
      if (!taken) await sink.drained()
    }
    clearInterval(draining)
    sink.abort()
    t.ok(most <= 2 * pieceBytes + 4 * 65_536, `${encoding}: ${most} bytes at most`)
  }
})

/** Writes pieces as a stage that streams does, and waits until the body has ended. */
async function write(
  behind: MemorySink,
  encoding: Encoding,
  pieces: readonly Uint8Array[],
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const { end } = behind
    behind.end = () => {
      end()
      resolve()
    }
  })
  const sink = compressedSink(behind, encoding)
  const draining = setInterval(() => behind.drain(), 0)
  for (const piece of pieces) if (!sink.write(piece)) await sink.drained()
  sink.end()
  await ended
  clearInterval(draining)
}
