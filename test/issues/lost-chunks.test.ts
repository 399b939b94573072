/**
 * What the HTTP library has corked it writes before a chunk that does not fit behind it. Where the
 * socket was full by then it took that chunk for written, and lists lacked recipients under load.
 */
import t from 'tap'
import { ChunkedSink } from '../../src/http/sink.js'
import type { NativeResponse } from '../../src/http/uws.js'

t.test('no chunk is written behind anything that is corked', async (t) => {
  const events: string[] = []
  let isCorked = false
  const native = {
    onWritable: () => native,
    cork(write: () => void) {
      isCorked = true
      write()
      isCorked = false
      return native
    },
    write(chunk: Uint8Array) {
      events.push(`${isCorked ? 'corked' : 'free'} ${chunk.length}`)
      return true
    },
    end: () => events.push('end'),
  }
  const sink = new ChunkedSink({
    native: native as unknown as NativeResponse,
    writeHead: () => void events.push(isCorked ? 'corked head' : 'head'),
    finished: () => events.push('finished'),
    readerRules: { stallMs: 1_000, bytesPerSecond: 1 },
  })
  sink.write(new Uint8Array(100_000))
  sink.write(new Uint8Array(200_000))
  sink.end()
  t.same(events, ['corked head', 'free 100000', 'free 200000', 'end', 'finished'])
})
