/**
 * What the HTTP library has corked it writes before a chunk that does not fit behind it. Where the
 * socket was full by then it took that chunk for written, and lists lacked recipients under load. Of
 * every chunk that was not corked it warned, so that a list was a hundred lines of the log.
 */
import t from 'tap'
import type { EngineResponse } from '../../src/http/engine/engine.js'
import { ChunkedSink } from '../../src/http/response/sinks.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

/** Of the library. */
const CORK_BYTES = 16_384
/** Before a chunk: a line end, its length in hexadecimal digits, a line end. */
const CHUNK_HEAD_BYTES = 2 + 8 + 2

t.test('what is corked together fits into what the library keeps for that', async (t) => {
  const corked: number[] = []
  let isCorked = false
  const written: Uint8Array[] = []
  const native = {
    onWritable: () => native,
    cork(write: () => void) {
      isCorked = true
      corked.push(0)
      write()
      isCorked = false
      return native
    },
    write(chunk: Uint8Array) {
      t.ok(isCorked)
      corked.push((corked.pop() ?? 0) + CHUNK_HEAD_BYTES + chunk.length)
      written.push(chunk.slice())
      return true
    },
    end: () => native,
  }
  const heads: number[] = []
  const sink = new ChunkedSink({
    native: native as unknown as EngineResponse,
    writeHead: () => void heads.push(corked.length),
    finished: () => heads.push(corked.length),
    cutOff: () => {},
    readerRules: { stallMs: 1_000, bytesPerSecond: 1 },
  })
  const chunks = [1, 15_359, 15_360, 15_361, 200_000].map((length) =>
    Uint8Array.from({ length }, (_, at) => at % 251),
  )
  for (const chunk of chunks) sink.write(chunk)
  sink.end()
  t.ok(Math.max(...corked) <= CORK_BYTES)
  t.ok(Buffer.concat(written).equals(Buffer.concat(chunks)))
  t.same(heads, [1, corked.length], 'the head is corked by itself')
})

t.test('a chunk is not taken while any of it waits for the socket', async (t) => {
  let roomBytes = 0
  let writtenBytes = 0
  const native = {
    onWritable: () => native,
    cork(write: () => void) {
      write()
      return native
    },
    // What is corked is written afterwards, so this tells of what came before.
    write(chunk: Uint8Array) {
      const wasTaken = writtenBytes <= roomBytes
      writtenBytes += chunk.length
      return wasTaken
    },
  }
  for (const byteCount of [2, 15_360, 15_361, 100_000]) {
    for (const [missingBytes, isTaken] of [
      [0, true],
      [2, false],
      [byteCount, false],
    ] as const) {
      const sink = new ChunkedSink({
        native: native as unknown as EngineResponse,
        writeHead: () => {},
        finished: () => {},
        cutOff: () => {},
        readerRules: { stallMs: 1_000, bytesPerSecond: 1 },
      })
      writtenBytes = 0
      roomBytes = byteCount - missingBytes
      t.equal(sink.write(new Uint8Array(byteCount)), isTaken, `${byteCount} - ${missingBytes}`)
      sink.leave()
    }
  }
})

t.test('a list leaves nothing in the log but what is JSON', async (t) => {
  const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
  const circle = { type: 'Point', coordinates: [-95.4, 29.8] }
  const geoJson = { type: 'Feature', geometry: circle, properties: { radius: 50_000 } }
  const body = JSON.stringify({ geoJson })
  const answer = await fetch(`${service.url}/api/recipients`, { method: 'POST', body })
  t.ok((await answer.arrayBuffer()).byteLength > 10 * CORK_BYTES)
  const { stderr } = await service.stop()
  t.ok(
    stderr
      .trim()
      .split('\n')
      .every((line) => line.startsWith('{')),
  )
})
