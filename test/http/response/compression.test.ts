/**
 * Compression of answers: when, and that nothing gets lost in it. Behind any transform, all bytes arrive in order, never
 * faster than either takes them, and nothing is left over when a body does not end.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { PassThrough, Transform } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { compressors, encodingOf, transformedSink } from '../../../src/http/response/compression.js'
import { testSeed } from '../../support/random/properties.js'
import { type MemorySink, memorySink } from '../../support/service/memory-sink.js'
import { byTier } from '../../support/tier.js'

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
    const sink = transformedSink(behind, compressors[encoding]())
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

const PIECE_BYTES = 64 * 1024
const piece = (byte = 1) => new Uint8Array(PIECE_BYTES).fill(byte)

t.test('every byte arrives, in order, however slow the sink is', async (t) => {
  const piecesOf = fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 12 })
  const property = fc.asyncProperty(piecesOf, fc.func(fc.boolean()), async (pieces, takes) => {
    const behind = memorySink((index) => takes(index))
    const transform = new PassThrough()
    const sink = transformedSink(behind, transform)
    const draining = setInterval(() => behind.drain(), 0)
    for (const each of pieces) if (!sink.write(each)) await sink.drained()
    sink.end()
    while (behind.endCount === 0) await nextTurn()
    clearInterval(draining)
    t.ok(behind.bytes().equals(Buffer.concat(pieces)))
    t.equal(behind.rudeCount, 0, 'it never wrote to a sink that had no room')
    t.equal(behind.endCount, 1)
    t.ok(transform.destroyed)
    t.notOk(behind.aborted)
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 25, soak: 100 }) })
})

t.test('no more than a few pieces are under way to a slow sink', async (t) => {
  const behind = memorySink(() => false)
  const sink = transformedSink(behind, new PassThrough())
  const draining = setInterval(() => behind.drain(), 0)
  let most = 0
  for (let sentBytes = 0; sentBytes < 200 * PIECE_BYTES; ) {
    const taken = sink.write(piece())
    sentBytes += PIECE_BYTES
    most = Math.max(most, sentBytes - behind.receivedBytes)
    if (!taken) await sink.drained()
  }
  clearInterval(draining)
  t.ok(most <= 3 * PIECE_BYTES, `${most} bytes at most`)
  sink.abort()
})

t.test('a writer waits for the sink, and for the transform', async (t) => {
  const behind = memorySink(() => false)
  const sink = transformedSink(behind, new PassThrough())
  t.equal(sink.write(Buffer.from('a')), false, 'the transform has room, the sink has not')
  t.equal(behind.receivedBytes, 1)
  t.notOk(await isSettled(sink.drained()))
  behind.drain()
  t.ok(await isSettled(sink.drained()), 'now both have')

  let finish: (() => void) | undefined
  const slow = new Transform({
    transform(chunk, _, done) {
      finish = () => done(null, chunk)
    },
  })
  const slowly = transformedSink(memorySink(), slow)
  t.equal(slowly.write(piece()), false, 'the transform is busy with it')
  const drained = slowly.drained()
  t.notOk(await isSettled(drained))
  finish?.()
  t.ok(await isSettled(drained))
})

t.test('a transform that makes many pieces of one waits with each', async (t) => {
  const behind = memorySink(() => false)
  const sink = transformedSink(
    behind,
    new Transform({
      transform(chunk, _, done) {
        for (const byte of chunk) this.push(piece(byte))
        done()
      },
    }),
  )
  sink.write(Uint8Array.of(1, 2, 3, 4))
  sink.end()
  for (let count = 1; count <= 4; count++) {
    await nextTurn()
    await nextTurn()
    t.equal(behind.receivedBytes, count * PIECE_BYTES)
    t.equal(behind.endCount, 0)
    behind.drain()
  }
  await nextTurn()
  await nextTurn()
  t.equal(behind.endCount, 1)
  t.equal(behind.rudeCount, 0)
})

t.test('breaking off breaks off the sink, and frees the transform and the writer', async (t) => {
  const behind = memorySink(() => false)
  const transform = new PassThrough()
  const sink = transformedSink(behind, transform)
  while (sink.write(piece())) await nextTurn()
  const drained = sink.drained()
  sink.abort()
  t.ok(await isSettled(drained))
  t.ok(behind.aborted)
  t.ok(transform.destroyed)
  t.ok(sink.gone)
  t.equal(sink.write(piece()), false)
  sink.end()
  await nextTurn()
  t.equal(behind.endCount, 0, 'a part is never ended as if it were all')
})

t.test('when the client disconnects, the next call frees the transform', async (t) => {
  const asks: Record<string, (sink: ReturnType<typeof transformedSink>) => unknown> = {
    gone: (sink) => sink.gone,
    write: (sink) => sink.write(piece()),
    drained: (sink) => sink.drained(),
    end: (sink) => sink.end(),
  }
  for (const [name, ask] of Object.entries(asks)) {
    const behind = memorySink()
    const transform = new PassThrough()
    const sink = transformedSink(behind, transform)
    sink.write(Buffer.from('a'))
    await nextTurn()
    behind.gone = true
    await ask(sink)
    t.ok(transform.destroyed, name)
    t.equal(behind.endCount, 0)
  }
})

t.test('when the client disconnects while a writer waits, the writer goes on', async (t) => {
  const behind = memorySink(() => false)
  const transform = new PassThrough()
  const sink = transformedSink(behind, transform)
  while (sink.write(piece())) await nextTurn()
  const drained = sink.drained()
  behind.gone = true
  behind.drain()
  t.ok(await isSettled(drained))
  t.ok(sink.gone)
  t.ok(transform.destroyed)
})

t.test('a transform that fails breaks the body off', async (t) => {
  const behind = memorySink()
  const transform = new Transform({
    transform: (_chunk, _encoding, done) => done(new Error('for the test')),
  })
  const sink = transformedSink(behind, transform)
  sink.write(piece())
  t.ok(await isSettled(sink.drained()))
  t.ok(behind.aborted)
  t.ok(transform.destroyed)
  t.equal(behind.endCount, 0)
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
  const sink = transformedSink(behind, compressors[encoding]())
  const draining = setInterval(() => behind.drain(), 0)
  for (const piece of pieces) if (!sink.write(piece)) await sink.drained()
  sink.end()
  await ended
  clearInterval(draining)
}

/** Whether it is, after all that is under way has run. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false
  void promise.then(() => {
    settled = true
  })
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  return settled
}
