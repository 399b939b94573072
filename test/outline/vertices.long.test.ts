/** Outlines of as many vertices as an answer may hold. */
import t from 'tap'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { limits } from '../../src/limits.js'
import { type OutlineTask, runTask } from '../../src/outline/run-task.js'

t.test('an outline of more vertices than an answer holds is given undissolved', async (t) => {
  // Two combs across each other: as many squares as the square of their teeth.
  const outcome = runTask(taskOf([comb(160, false), comb(160, true)]))
  t.match(outcome, { kind: 'drawn', problem: 'TooManyVertices' })
  t.equal(outcome.kind === 'drawn' && outcome.drawing.included[0].length, 2)
})

t.test('shapes may have as many vertices as an answer, and not one more', async (t) => {
  const triangleCount = Math.floor((limits.outlineVertexCount - 4) / 3)
  const triangles = Array.from({ length: triangleCount }, (_, i) => [
    [i / 1e3, 0],
    [i / 1e3, 1],
    [i / 1e3 + 1e-4, 0],
  ])
  const rest = limits.outlineVertexCount - 3 * triangleCount
  const ring = (vertexCount: number) =>
    Array.from({ length: vertexCount }, (_, i) => [-1 - Math.cos(i), Math.sin(i)])
  const problem = 'TookTooLong'
  t.match(runTask({ ...taskOf([...triangles, ring(rest)]), problem }), { kind: 'drawn', problem })
  t.same(runTask({ ...taskOf([...triangles, ring(rest + 1)]), problem }), { kind: 'tooComplex' })
})

t.test('what is listed once for each group of sources counts as often', async (t) => {
  const vertexCount = limits.outlineVertexCount / 2
  const ring = Array.from({ length: vertexCount }, (_, i) => {
    const angle = (2 * Math.PI * i) / vertexCount
    return [Math.cos(angle), Math.sin(angle)]
  })
  const choice = { included: [0], excluded: [] }
  const task: OutlineTask = { ...taskOf([ring]), problem: 'TookTooLong' }
  t.match(runTask({ ...task, choices: [choice, choice] }), { kind: 'drawn' })
  t.match(runTask({ ...task, choices: [choice, choice, choice] }), { kind: 'tooComplex' })
})

function taskOf(shells: readonly number[][][]): OutlineTask {
  const { included, excluded } = including(polygonsOf(shells.map((shell) => [shell])))
  const choices = [{ included: [0], excluded: [] }]
  return { included, excluded, boundaries: [], choices, problem: undefined }
}

function comb(toothCount: number, isLying: boolean): number[][] {
  const teeth = Array.from({ length: toothCount }, (_, i) => {
    const [left, right] = [i / toothCount, (i + 0.5) / toothCount]
    return [
      [left, 0],
      [left, 1],
      [right, 1],
      [right, 0],
    ]
  }).flat()
  return [...teeth, [1, -0.01], [0, -0.01]].map(([x, y]) => (isLying ? [y, x] : [x, y]))
}
