/**
 * Compactions that are killed as they change something. The area `faults` of `npm run test:soak` kills them at every
 * call.
 */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { spread } from './calls.js'
import {
  compactionCalls,
  killCompactionAt,
  killCompactionsAtRandom,
  prepareCompaction,
} from './compaction.js'
import { findFaults } from './run-some.js'
import { assertStrace } from './trace.js'

assertStrace()
const stage = await prepareCompaction(temporaryDirectory(t))

t.test('a compaction that is killed loses and doubles nothing', async (t) => {
  const calls = await compactionCalls(stage)
  const removed = calls.filter(({ syscall, path }) => {
    return syscall.startsWith('unlink') && path.startsWith('data/journal/changes-')
  })
  t.ok(removed.length > 0, 'files of the journal are removed')
  for (const kind of [/^mkdir/, /^open/, /^write/, /^pwrite/, /^fsync/, /^fdatasync/, /^rename/]) {
    t.ok(
      calls.some(({ syscall }) => kind.test(syscall)),
      `${kind} is among them`,
    )
  }
  const chosen = [...spread(calls, 6), ...removed.slice(0, 1)]
  t.comment(`${chosen.length} of ${calls.length} calls`)
  t.same(await findFaults(chosen, (call) => killCompactionAt(stage, call)), [])
})

t.test('and so does one after the other while batches come', async (t) => {
  const { fault } = await killCompactionsAtRandom(stage, 3, seededRandom(testSeed(t)))
  t.equal(fault, undefined)
})
