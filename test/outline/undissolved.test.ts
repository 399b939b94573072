import t from 'tap'
import { runTask } from '../../src/outline/run-task.js'
import type { OutlineTask } from '../../src/outline/task.js'
import type { ClipOutcome, ClipRunner } from '../../src/pool/tasks.js'
import {
  asked,
  collection,
  feature,
  polygon,
  response,
  square,
  turned,
} from '../support/random/outlines.js'

/** Fails as often as told, then works. */
function failing(failure: 'TookTooLong' | 'OutOfMemory' | 'Failed', count: number): ClipRunner {
  let left = count
  const attempt = (task: unknown): ClipOutcome =>
    left-- > 0 ? { failure } : { value: runTask(task as OutlineTask) }
  return {
    async run(task, _, otherwise) {
      const outcome = attempt(task)
      const isFinal = 'value' in outcome || otherwise === undefined
      return isFinal ? outcome : attempt(otherwise(outcome.failure))
    },
  }
}

const requestWithAll = {
  ...collection(
    feature(polygon(square(0, 0, 4), square(3, 3, 4))),
    feature(polygon(square(1, 1, 1)), { exclude: true }),
  ),
  clipToBoundary: true,
}
const causes = [
  { failure: 'TookTooLong', problem: 'TookTooLong' },
  { failure: 'OutOfMemory', problem: 'OutOfMemory' },
  { failure: 'Failed', problem: 'ClippingFailed' },
] as const
for (const { failure, problem } of causes) {
  t.test(
    `${failure}: shapes are listed as they were drawn, nothing as area that is none`,
    async (t) => {
      const { Outlines = [], ...about } = await response(requestWithAll, failing(failure, 1))
      t.match(about, { IsDissolved: false, Problem: problem })
      const [{ SourceIds, Included = [], Excluded = [], Boundary = [], ...rest }] = Outlines
      t.same(rest, {}, 'neither GeoJson nor Rings')
      t.same(SourceIds, [3, 5, 8])
      const shellOf = ({ GeoJson }: (typeof Included)[number]) => {
        t.equal(GeoJson?.coordinates?.flat().length, 1)
        return turned(GeoJson?.coordinates?.[0][0])
      }
      t.same(Included.map(shellOf), ['0,0 4,0 4,4 0,4'])
      t.same(Included[0].Holes?.map(shellOf), ['3,3 7,3 7,7 3,7'])
      t.same(Excluded.map(shellOf), ['1,1 2,1 2,2 1,2'])
      t.same(Boundary.map(shellOf), ['0,0 4,0 4,2 0,2'])
      t.same(turned(Included[0].Rings?.rings?.[0]), '0,0 0,4 4,4 4,0')
    },
  )
}

t.test('shapes that cannot even be drawn are refused', async (t) => {
  const refused = { code: 'TooComplex', status: 422, field: 'geoJSON' }
  await t.rejects(asked(requestWithAll, failing('TookTooLong', 2)), refused)
  const tooComplex: ClipRunner = { run: async () => ({ value: { kind: 'tooComplex' } }) }
  await t.rejects(asked(requestWithAll, tooComplex), refused)
})
