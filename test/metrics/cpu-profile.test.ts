import t from 'tap'
import { startProfile } from '../../src/metrics/cpu-profile.js'
import { heapFigures } from '../../src/metrics/heap-figures.js'

/** Its name is to be found again. */
function workHard(untilMs: number): number {
  let sum = 0
  while (performance.now() < untilMs) sum += Math.sqrt(sum + 1)
  return sum
}

t.test('a profile has the functions that ran, and can be taken again', async (t) => {
  for (let round = 0; round < 2; round++) {
    const profile = startProfile()
    workHard(performance.now() + 200)
    const { nodes, samples } = JSON.parse(profile.stop())
    t.ok(nodes.length > 1)
    t.match(JSON.stringify(nodes), /cpu-profile\.test/, 'where it was at work')
    t.ok(samples.length > 1)
  }
})

t.test('a heap is told in numbers alone', async (t) => {
  const figures = heapFigures()
  t.ok(figures.usedBytes > 0 && figures.usedBytes <= figures.limitBytes)
  t.ok(figures.spaces.old_space.usedBytes > 0)
  t.notMatch(JSON.stringify(figures), /"[^"]*":"/, 'there is no text in it')
})
