/**
 * How long a reader is waited for.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { BackPressure, type ReaderRules } from '../../../src/http/response/back-pressure.js'
import { until } from '../../support/service/until.js'

const rules: ReaderRules = { stallMs: 30_000, bytesPerSecond: 1_000 }
const SHORT: ReaderRules = { stallMs: 20, bytesPerSecond: 1e9 }

const connectionWith = (readerRules: ReaderRules, cutOff: () => void) => ({
  native: { pause() {}, resume() {} },
  readerRules,
  cutOff,
})

t.test('patience ends with a stall, or with the average of all waiting', async (t) => {
  /** Bytes that were taken when a wait began, and how long it was; of the last one, until the end. */
  type Waits = readonly (readonly [takenBytes: number, ms: number])[]
  const inQuarters = (takenBytes: number, lastMs: number): Waits => [
    [0, 25_000],
    [takenBytes, 25_000],
    [takenBytes, 25_000],
    [takenBytes, lastMs],
  ]
  const cases: [what: string, waits: Waits][] = [
    ['a reader that is waited for the first time', [[0, 30_000]]],
    [
      'one that took nothing since',
      [
        [0, 20_000],
        [0, 10_000],
      ],
    ],
    [
      'one that took a little, within the grace',
      [
        [0, 20_000],
        [5_000, 10_000],
      ],
    ],
    [
      'one that took as much as it must',
      [
        [0, 20_000],
        [40_000, 20_000],
      ],
    ],
    [
      'one that took more than a stall is worth',
      [
        [0, 20_000],
        [400_000, 30_000],
      ],
    ],
    ['one that is exactly as fast as it must be', inQuarters(100_000, 25_000)],
    ['one that is slower', inQuarters(99_000, 24_000)],
    [
      'one that was fast once, and is slow now',
      [...inQuarters(110_000, 25_000), [110_000, 10_000]],
    ],
  ]
  const clock = fakeClock(t)
  for (const [what, waits] of cases) {
    let cutOffCount = 0
    const pressure = new BackPressure(connectionWith(rules, () => void cutOffCount++))
    for (const [at, [takenBytes, ms]] of waits.entries()) {
      pressure.waits(takenBytes)
      const isLast = at === waits.length - 1
      clock.pass(isLast ? ms - 1 : ms)
      t.equal(cutOffCount, 0, `${what}, wait ${at}`)
      if (isLast) clock.pass(1)
      else pressure.resume()
    }
    t.equal(cutOffCount, 1, what)
    pressure.end()
  }
})

t.test('a reader is cut off once, while it is waited for', async (t) => {
  let cutOffCount = 0
  const connection = connectionWith(SHORT, () => void cutOffCount++)
  const pressure = new BackPressure(connection)
  pressure.waits(0)
  await until(() => cutOffCount > 0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(cutOffCount, 1)
  pressure.end()
})

t.test('a reader is cut off only under back-pressure, and before the end', async (t) => {
  let cutOffCount = 0
  const create = () => new BackPressure(connectionWith(SHORT, () => void cutOffCount++))
  const [resumed, ended] = [create(), create()]
  resumed.waits(0)
  resumed.resume()
  ended.waits(0)
  ended.end()
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(cutOffCount, 0)
  // And is, once there is no room again.
  resumed.waits(1)
  await until(() => cutOffCount === 1)
  resumed.end()
})

/** Time passes only when it is told to, one timer at most. */
function fakeClock(t: Test) {
  let nowMs = 0
  let timer: { readonly dueMs: number; readonly run: () => void } | undefined
  t.intercept(performance, 'now', { value: () => nowMs })
  t.intercept(globalThis, 'setTimeout', {
    value: (run: () => void, ms: number) => {
      timer = { dueMs: nowMs + ms, run }
    },
  })
  t.intercept(globalThis, 'clearTimeout', {
    value: () => {
      timer = undefined
    },
  })
  return {
    pass(ms: number) {
      const endMs = nowMs + ms
      while (timer !== undefined && timer.dueMs <= endMs) {
        const { dueMs, run } = timer
        nowMs = dueMs
        timer = undefined
        run()
      }
      nowMs = endMs
    },
  }
}
