import t from 'tap'
import { traceParentOf } from '../../src/http/trace-parent.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const valid = { traceId: TRACE, parentId: PARENT }

t.test('a valid traceparent is taken, and one of a later version with more fields', async (t) => {
  t.same(traceParentOf(`00-${TRACE}-${PARENT}-01`), valid)
  t.same(traceParentOf(`00-${TRACE}-${PARENT}-00`), valid)
  t.same(traceParentOf(`cc-${TRACE}-${PARENT}-01`), valid)
  t.same(traceParentOf(`cc-${TRACE}-${PARENT}-01-what-comes-then`), valid)
})

t.test('all else is ignored', async (t) => {
  const others = [
    '',
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01.`,
    `cc-${TRACE}-${PARENT}-01.more`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}0-01`,
    `00-${TRACE}-${PARENT}`,
    ` 00-${TRACE}-${PARENT}-01`,
    // As several headers of this name are joined.
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    '+9995550101',
  ]
  for (const sent of others) t.equal(traceParentOf(sent), undefined, sent)
})
