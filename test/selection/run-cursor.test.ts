import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { RunCursor } from '../../src/selection/run-cursor.js'
import { testSeed } from '../support/random/properties.js'

const runLengths = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 9 })), { maxLength: 8 })
const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(12)), { minLength: 60 })

t.test('whatever is looked at and skipped, each recipient comes once and in order', async (t) => {
  const property = fc.property(runLengths, steps, (gaps, asked) => {
    const runs: number[] = []
    for (const [gap, length] of gaps) {
      const start = (runs.at(-1) ?? 0) + gap
      runs.push(start, start + length)
    }
    const cursor = new RunCursor(Uint32Array.from(runs))
    const listed: number[] = []
    for (const [most, wanted] of asked) {
      const seen = recipientsOf(cursor.peek(most))
      const taken = seen.slice(0, wanted)
      cursor.skip(taken.length)
      listed.push(...taken)
    }
    const all = recipientsOf(Uint32Array.from(runs))
    listed.push(...recipientsOf(cursor.peek(all.length + 1)))
    cursor.skip(all.length - listed.length)
    return JSON.stringify(listed) === JSON.stringify(all)
  })
  fc.assert(property, { seed: testSeed(t) })
})

t.test('it is at its end when all are skipped', async (t) => {
  const cursor = new RunCursor(Uint32Array.of(3, 5, 9, 10))
  t.notOk(cursor.isAtEnd)
  cursor.skip(2)
  t.same(cursor.peek(7), Uint32Array.of(9, 10))
  cursor.skip(1)
  t.ok(cursor.isAtEnd)
  t.same(cursor.peek(7), Uint32Array.of())
  t.ok(new RunCursor(Uint32Array.of()).isAtEnd)
})

t.test('it looks at no more runs than a piece may have', async (t) => {
  const most = limits.runsPerPieceCount
  for (const runCount of [most, most + 1]) {
    const runs = Uint32Array.from(
      { length: 2 * runCount },
      (_, bound) => 3 * (bound >> 1) + (bound & 1),
    )
    const cursor = new RunCursor(runs)
    const first = cursor.peek(10 * most)
    t.same(first, runs.subarray(0, 2 * most))
    cursor.skip(most)
    t.same(cursor.peek(10 * most), runs.subarray(2 * most))
  }
})

function recipientsOf(runs: Uint32Array): number[] {
  const recipients: number[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let recipient = runs[i]; recipient < runs[i + 1]; recipient++) recipients.push(recipient)
  }
  return recipients
}
