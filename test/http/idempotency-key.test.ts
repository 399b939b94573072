import t from 'tap'
import { withIdempotencyKey } from '../../src/http/idempotency-key.js'
import type { HttpRequest } from '../../src/http/request.js'
import { operations } from '../../src/interface/operations.js'

/** The members of a request with this header. */
function bound(sent: string | undefined, members: object = {}, name = 'PostChangesRequest') {
  const request = { header: () => sent } as unknown as HttpRequest
  return withIdempotencyKey(request, operations[name as keyof typeof operations], { ...members })
}

t.test('the header has the key in quotes, or bare', async (t) => {
  t.same(bound('"8e03978e-40d5"'), { batchId: '8e03978e-40d5' })
  t.same(bound('8e03978e-40d5'), { batchId: '8e03978e-40d5' })
  t.same(bound('"a, b"'), { batchId: 'a, b' })
  t.same(bound(String.raw`"a\"b\\c"`), { batchId: String.raw`a"b\c` })
  t.same(bound(undefined, { batchId: 'a' }), { batchId: 'a' })
})

t.test('a member that says the same may be there, too', async (t) => {
  t.same(bound('"7"', { BATCHID: 7 }), { BATCHID: 7 })
  t.same(bound('"7"', { batchId: null, a: 1 }), { batchId: '7', a: 1 })
  t.throws(() => bound('"7"', { BatchId: '8' }), { code: 'InvalidRequest', field: 'batchId' })
})

t.test('what is no key is refused', async (t) => {
  for (const sent of ['', '""', '"a', 'a"', '"a", "b"', 'a, b', '"a\\b"', '"é"', '"a\tb"']) {
    t.throws(() => bound(sent), { code: 'InvalidRequest', field: 'Idempotency-Key' }, sent)
  }
})

t.test('other operations do not know of it', async (t) => {
  t.same(bound('"', {}, 'PutSuppressionsRequest'), {})
})
