import t from 'tap'
import type { Body, BodyWriter } from '../../src/format/answer.js'
import { ndjsonLine } from '../../src/format/ndjson.js'
import { bodyText } from '../support/service/body-text.js'

t.test('any body becomes a line, and stays of its kind', async (t) => {
  const utf8 = new TextEncoder()
  const pieces: BodyWriter = {
    async write(sink) {
      sink.write(utf8.encode('{"a":'))
      sink.write(utf8.encode('1}'))
    },
  }
  const text = ndjsonLine('{"a":1}')
  t.equal(text, '{"a":1}\n')
  const bytes = ndjsonLine(utf8.encode('{"a":1}') as Body)
  t.ok(bytes instanceof Uint8Array, 'so that its length is known')
  for (const body of [text, bytes, ndjsonLine(pieces)]) t.equal(await bodyText(body), '{"a":1}\n')
})
