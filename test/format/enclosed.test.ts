import t from 'tap'
import type { BodyWriter } from '../../src/format/answer.js'
import { enclosed } from '../../src/format/enclosed.js'
import { bodyText } from '../support/service/body-text.js'

const writer = (byteCount?: number | undefined): BodyWriter => ({
  write: async (sink) => void sink.write(Buffer.from('é')),
  byteCount: async () => byteCount,
})

t.test('a body of any kind is between the texts, and stays of its kind', async (t) => {
  t.equal(enclosed('<ä', 'é', '>'), '<äé>')
  const bytes = enclosed('<ä', Buffer.from('é'), '>')
  t.ok(bytes instanceof Uint8Array)
  for (const body of [bytes, enclosed('<ä', writer(), '>')]) t.equal(await bodyText(body), '<äé>')
})

t.test('its length is that of all three, where that of the body is known', async (t) => {
  const byteCountOf = (body: BodyWriter) => (enclosed('<ä', body, '>') as BodyWriter).byteCount?.()
  t.equal(await byteCountOf(writer(2)), Buffer.byteLength('<äé>'))
  t.equal(await byteCountOf(writer(0)), Buffer.byteLength('<ä>'))
  t.equal(await byteCountOf(writer(undefined)), undefined)
  t.equal(await byteCountOf({ write: writer().write }), undefined)
})
