import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { inTurns } from '../../src/live/in-turns.js'
import { hashTableInSteps } from '../../src/shard/hash-table.js'

t.test('others have their turn between the steps of a table', async (t) => {
  const count = 50_000
  let turnCount = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; turnCount++) await turn()
  })()
  const { items } = await inTurns(hashTableInSteps(count, (index) => Math.imul(index, 2 ** 31 - 1)))
  isOver = true
  await others
  t.equal(items.length, count)
  // Each of both passes has four steps.
  t.ok(turnCount >= 8, `${turnCount} turns`)
})

t.test('work that nobody waits for ends at its next step', async (t) => {
  const over = new AbortController()
  let stepCount = 0
  const work = inTurns(
    (function* () {
      for (;;) {
        stepCount++
        yield
      }
    })(),
    over.signal,
  )
  await turn()
  over.abort(new Error('enough'))
  await t.rejects(work, /enough/)
  const before = stepCount
  await turn()
  t.equal(stepCount, before)
})
