/**
 * Warnings in a header.
 *
 * @module
 */
import t from 'tap'
import { warningHeaders } from '../../src/format/warning-headers.js'
import { limits } from '../../src/limits.js'

const header = (messages: readonly string[]) =>
  warningHeaders(messages.map((Message) => ({ Code: 'NoGeometry', Message })))['X-Warnings']

t.test('no warning, no header', async (t) => {
  t.same(warningHeaders(undefined), {})
  t.same(warningHeaders([]), {})
})

t.test('a header is ASCII on one line, and JSON', async (t) => {
  const messages = ['é \u{1f600}\r\nSet-Cookie: a=b', '"\\']
  t.match(header(messages), /^[ -~]+$/)
  t.same(
    JSON.parse(header(messages)).map(({ Message }: { Message: string }) => Message),
    messages,
  )
})

t.test('a header has so many bytes at most, and says what is left out', async (t) => {
  const empty = header(['']).length
  const longest = 'a'.repeat(limits.warningHeaderBytes - empty)
  t.equal(header([longest]).length, limits.warningHeaderBytes)
  t.same(JSON.parse(header([`${longest}a`])), [
    { Code: 'MoreWarnings', Message: 'more warnings have no room in a header' },
  ])
  const some = JSON.parse(header(Array.from({ length: 16 }, () => 'a'.repeat(300))))
  t.equal(some.at(-1).Code, 'MoreWarnings')
  t.ok(some.length > 2)
})
