/**
 * Imports that are killed as they change something. The area `faults` of `npm run test:soak` kills them at every call.
 */
import t from 'tap'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { spread } from './calls.js'
import { changesOf, interruptAt, killAt, killPoints } from './kill.js'
import { killAtRandom } from './random-kills.js'
import { findFaults } from './run-some.js'
import { prepareStage } from './stage.js'
import { assertStrace } from './trace.js'

assertStrace()
const stage = await prepareStage(temporaryDirectory(t))

t.test('an import that is killed leaves the old or the new snapshot, whole', async (t) => {
  const points = await killPoints(stage)
  for (const kind of [/^mkdir/, /^link/, /^open/, /^write/, /^fsync/, /^rename/, /^unlink/]) {
    t.ok(
      points.some(({ call }) => kind.test(call.syscall)),
      `${kind} is among them`,
    )
  }
  const chosen = spread(points, 10)
  t.comment(`${chosen.length} of ${points.length} calls`)
  t.same(await findFaults(chosen, ({ scenario, call }) => killAt(scenario, call)), [])
})

t.test('a signal that comes as a snapshot becomes current is too late', async (t) => {
  const { replace } = stage
  const renames = (await changesOf(replace)).filter(({ syscall }) => syscall.startsWith('rename'))
  t.ok(renames.length >= 3, 'of the snapshot, of CURRENT, and of what is removed')
  t.same(await findFaults(renames, (call) => interruptAt(replace, call)), [])
})

t.test('and so does one after the other that is killed at any time', async (t) => {
  const { fault, killedCount } = await killAtRandom(stage, 2, seededRandom(testSeed(t)))
  t.equal(fault, undefined)
  t.ok(killedCount > 0)
})
