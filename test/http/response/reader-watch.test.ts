/**
 * How long a reader is waited for.
 *
 * @module
 */
import t from 'tap'
import {
  patienceMs,
  type ReaderRules,
  ReaderWatch,
} from '../../../src/http/response/reader-watch.js'
import { until } from '../../support/service/until.js'

const rules: ReaderRules = { stallMs: 30_000, bytesPerSecond: 1_000 }

t.test('patience ends with a stall, or with the average of all waiting', async (t) => {
  const cases: [what: string, waitedMs: number, takenBytes: number, patience: number][] = [
    ['a reader that is waited for the first time', 0, 0, 30_000],
    ['one that took nothing since', 20_000, 0, 10_000],
    ['one that took a little, within the grace', 20_000, 5_000, 10_000],
    ['one that took as much as it must', 20_000, 40_000, 20_000],
    ['one that took more than a stall is worth', 20_000, 400_000, 30_000],
    ['one that is exactly as fast as it must be, late', 100_000, 100_000, 0],
    ['one that is slower', 100_000, 99_000, -1_000],
    ['one that was fast once, and is slow now', 100_000, 110_000, 10_000],
  ]
  for (const [what, waitedMs, takenBytes, patience] of cases) {
    t.equal(patienceMs(rules, waitedMs, takenBytes), patience, what)
  }
})

t.test('a reader is cut off once, while it is waited for', async (t) => {
  let cutOffCount = 0
  const reader = { waitAnew() {}, cutOff: () => void cutOffCount++ }
  const watch = new ReaderWatch({ stallMs: 20, bytesPerSecond: 1e9 }, reader)
  watch.waits(0)
  await until(() => cutOffCount > 0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(cutOffCount, 1)
  watch.end()
})

t.test('nobody is cut off who is not waited for, or after the end', async (t) => {
  let cutOffCount = 0
  const reader = { waitAnew() {}, cutOff: () => void cutOffCount++ }
  const create = () => new ReaderWatch({ stallMs: 20, bytesPerSecond: 1e9 }, reader)
  const [resumed, ended] = [create(), create()]
  resumed.waits(0)
  resumed.goesOn()
  ended.waits(0)
  ended.end()
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(cutOffCount, 0)
  // And is, once there is no room again.
  resumed.waits(1)
  await until(() => cutOffCount === 1)
  resumed.end()
})
