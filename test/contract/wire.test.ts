/**
 * The wire: each statement of `wire-rows.ts`, and how bodies are framed and packed.
 *
 * @module
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { request } from '../http/wire.js'
import { asList, checkWire, LIST_NDJSON } from './wire-rows.js'
import { serveWireWorld } from './wire-world.js'

const { url } = await serveWireWorld(t)
const port = Number(new URL(url).port)

await checkWire(t, (line, sent) => request(port, line, sent))

t.test('a body that comes in chunks is refused', async (t) => {
  const headers = ['Transfer-Encoding: chunked']
  const { status, body } = await request(port, 'POST /api/recipients', { headers })
  t.equal(status, 411)
  t.match(String(body), '"ErrorCode":"LengthRequired"')
  t.match(String(body), 'Content-Length, as curl does with --data-binary @- ', 'what to do')
})

t.test('lines are compressed where that is accepted, also none at all', async (t) => {
  for (const [encoding, unpack] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const) {
    const headers = [`Accept-Encoding: ${encoding}`]
    for (const [body, lines] of [
      [asList, LIST_NDJSON],
      ['{}', ''],
    ]) {
      const options = { headers, body }
      const answer = await request(port, 'POST /api/recipients?format=ndjson', options)
      t.equal(answer.headers['content-encoding'], encoding)
      t.equal(unpack(answer.body).toString(), lines)
    }
  }
})
