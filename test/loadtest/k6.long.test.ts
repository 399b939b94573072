import t from 'tap'
import { isKnownCount, isRefusal, namesSnapshot } from '../../loadtest/k6/answers.js'
import { nextOf } from '../../loadtest/k6/scenario-data.js'

const known = { body: '{}', answer: '{"SourceRecords":[]}' }
const seen = (status: number, body = '', headers: Record<string, string> = {}) => ({
  status,
  body,
  headers,
})

t.test('a count is the known one only byte by byte, and with status 200', async (t) => {
  t.ok(isKnownCount(seen(200, known.answer), known))
  t.notOk(isKnownCount(seen(200, `${known.answer} `), known))
  t.notOk(isKnownCount(seen(503, known.answer), known))
})

t.test('a refusal is a short 503 that says when to come back', async (t) => {
  const cases: readonly (readonly [ReturnType<typeof seen>, boolean])[] = [
    [seen(503, '{}', { 'Retry-After': '1' }), true],
    [seen(503, 'x'.repeat(512), { 'Retry-After': '60' }), true],
    [seen(503, 'x'.repeat(513), { 'Retry-After': '1' }), false],
    [seen(503, '{}', { 'Retry-After': '61' }), false],
    [seen(503, '{}', { 'Retry-After': 'soon' }), false],
    [seen(503, '{}'), false],
    [seen(500, '{}', { 'Retry-After': '1' }), false],
    [seen(0), false],
  ]
  for (const [answer, expected] of cases) t.equal(isRefusal(answer), expected)
})

t.test('an answer names its snapshot, and requests come in turn', async (t) => {
  t.ok(namesSnapshot(seen(200, '', { 'X-Snapshot': '000001-00000000' })))
  t.notOk(namesSnapshot(seen(200)))
  t.same(
    [0, 1, 2, 3].map((turn) => nextOf(['a', 'b', 'c'], turn)),
    ['a', 'b', 'c', 'a'],
  )
})
