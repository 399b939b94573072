/**
 * What a fault may say in the log.
 *
 * @module
 */
import assert from 'node:assert'
import t from 'tap'
import { describeFault } from '../src/log.js'

const SENT = '+99955501234'

t.test('a fault that quotes what it looked at is logged without its message', async (t) => {
  const faults = [
    () => JSON.parse(`{"Number": ${SENT}`),
    () => assert.equal(SENT, ''),
    () => assert.deepEqual([{ number: SENT }], []),
  ]
  for (const fail of faults) {
    const described = describeFault(caught(fail))
    t.notMatch(JSON.stringify(described), SENT)
    t.notOk('faultMessage' in described)
    t.match(described.frames, /^ {4}at /)
  }
})

t.test('other faults keep their message, and what is no error its type alone', async (t) => {
  t.match(describeFault(new TypeError('no such thing')), {
    fault: 'TypeError',
    faultMessage: 'no such thing',
  })
  t.same(describeFault(SENT), { fault: 'string' })
})

function caught(fail: () => unknown): unknown {
  try {
    fail()
  } catch (fault) {
    return fault
  }
  throw new Error('nothing failed')
}
