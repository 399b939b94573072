/**
 * The wire: each statement of `wire-rows.ts`, and how bodies are framed and packed.
 *
 * @module
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { Client, request, requestText } from '../http/wire.js'
import { engine } from '../support/service/engine.js'
import { asList, checkWire, LIST_NDJSON } from './wire-rows.js'

export function testWire(t: Test, url: string): void {
  const port = Number(new URL(url).port)

  t.test('statement by statement', (t) => checkWire(t, (line, sent) => request(port, line, sent)))

  t.test('a body that comes in chunks is read, and only that coding', async (t) => {
    const client = new Client(port)
    const question = '{"countsOnly":true,"geoJSON":{"type":"FeatureCollection","features":[]}}'
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    client.write(requestText('POST /api/recipients', { headers: chunked }))
    for (const piece of [question.slice(0, 9), question.slice(9)]) {
      client.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)
    }
    client.write('0\r\n\r\n')
    const whole = await request(port, 'POST /api/recipients', {
      headers: chunked.slice(0, 1),
      body: question,
    })
    t.equal(String((await client.answer()).body), String(whole.body))
    client.socket.destroy()
    const headers = ['Transfer-Encoding: gzip']
    const { status, body } = await request(port, 'POST /api/recipients', { headers })
    if (engine.name === 'node') {
      t.equal(status, 400, 'by node:http itself')
      return
    }
    t.equal(status, 411)
    t.match(String(body), '"ErrorCode":"LengthRequired"')
    t.match(String(body), 'Content-Length, or with Transfer-Encoding: chunked alone', 'what to do')
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
}
