/**
 * What keys may have, counted in memory that threads share: at the bound, and one past it.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import {
  addRows,
  appliedByAll,
  beginList,
  clearUse,
  createKeyMemory,
  dayOf,
  endList,
  msLeftOfDay,
  noteApplied,
  rowsOf,
  takeRequest,
  takeRows,
} from '../../src/keys/key-memory.js'
import { limits } from '../../src/limits.js'

const SECOND = 1_000_000_000n
const NOON = Date.parse('2026-11-22T12:00:00Z')

t.test('so many requests pass at once, then one as each is due', async (t) => {
  const memory = createKeyMemory(1)
  const take = (nowNs: bigint) => takeRequest(memory, 3, 10, nowNs)
  for (let i = 0; i < 10; i++) t.equal(take(5n * SECOND), 0n)
  t.equal(take(5n * SECOND), SECOND / 10n, 'one too many, and so long too early')
  t.equal(take(5n * SECOND + SECOND / 10n - 1n), 1n)
  t.equal(take(5n * SECOND + SECOND / 10n), 0n)
  t.not(take(5n * SECOND + SECOND / 10n), 0n)
  t.equal(takeRequest(memory, 4, 10, 5n * SECOND), 0n, 'another key')
  for (let i = 0; i < 10; i++) t.equal(take(60n * SECOND), 0n, 'what was not used is not saved up')
  t.not(take(60n * SECOND), 0n)
})

t.test(
  'no second has more requests than twice what is allowed, and all time not more',
  async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 400_000_000 }), {
      minLength: 50,
      maxLength: 200,
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), gaps, (perSecond, gapsNs) => {
        const memory = createKeyMemory(1)
        let nowNs = 10n * SECOND
        let passed = 0
        for (const gapNs of gapsNs) {
          nowNs += BigInt(gapNs)
          if (takeRequest(memory, 0, perSecond, nowNs) === 0n) passed++
        }
        const seconds = Number(nowNs - 10n * SECOND) / 1e9
        return passed <= perSecond + perSecond * seconds + 1
      }),
    )
  },
)

t.test('so many lists at a time', async (t) => {
  const memory = createKeyMemory(1)
  t.ok(beginList(memory, 0, 2))
  t.ok(beginList(memory, 0, 2))
  t.notOk(beginList(memory, 0, 2))
  t.ok(beginList(memory, 1, 1), 'of another key')
  endList(memory, 0)
  t.ok(beginList(memory, 0, 2))
  t.notOk(beginList(memory, 0, 2))
})

t.test('so many rows a day, all of a list or none', async (t) => {
  const memory = createKeyMemory(1)
  const take = (count: number, nowMs = NOON) =>
    takeRows(memory, limits.keyCount - 1, { count, perDay: 100 }, nowMs)
  t.same(take(99), { isTaken: true, leftCount: 100 })
  t.same(take(2), { isTaken: false, leftCount: 1 })
  t.same(take(1), { isTaken: true, leftCount: 1 })
  t.same(take(0), { isTaken: true, leftCount: 0 }, 'a list of nobody')
  t.same(take(1), { isTaken: false, leftCount: 0 })
  t.same(take(1, NOON + msLeftOfDay(NOON) - 1), { isTaken: false, leftCount: 0 })
  t.same(take(100, NOON + msLeftOfDay(NOON)), { isTaken: true, leftCount: 100 }, 'the next day')
  t.same(take(101, NOON + 2 * 86_400_000), { isTaken: false, leftCount: 100 })
})

t.test('the most rows of a day are counted', async (t) => {
  const memory = createKeyMemory(1)
  const perDay = limits.keyRowsPerDayCount
  t.ok(takeRows(memory, 0, { count: perDay, perDay }, NOON).isTaken)
  t.equal(rowsOf(memory, 0, dayOf(NOON)), perDay)
  t.notOk(takeRows(memory, 0, { count: 1, perDay }, NOON).isTaken)
})

t.test('rows of elsewhere count, and those of another key do not', async (t) => {
  const memory = createKeyMemory(1)
  const day = dayOf(NOON)
  addRows(memory, 5, day, 60)
  t.same(takeRows(memory, 5, { count: 41, perDay: 100 }, NOON), { isTaken: false, leftCount: 40 })
  t.equal(rowsOf(memory, 5, day), 60)
  t.equal(rowsOf(memory, 5, day + 1), 0)
  t.equal(rowsOf(memory, 6, day), 0)
  clearUse(memory, 5)
  t.equal(rowsOf(memory, 5, day), 0)
})

t.test('what all front threads have taken is what the last of them has', async (t) => {
  const memory = createKeyMemory(3)
  noteApplied(memory, 0, 7)
  noteApplied(memory, 1, 9)
  t.equal(appliedByAll(memory), 0)
  noteApplied(memory, 2, 8)
  t.equal(appliedByAll(memory), 7)
})
