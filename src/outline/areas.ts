/**
 * The outlines of several areas, each united by itself.
 *
 * @module
 */
import type { Layer } from '../geometry/shapes.js'
import type { PlainArea } from '../interface/outline.js'
import type { Caller, ClipRunner } from '../pool/tasks.js'
import { toArea } from './notations.js'
import type { OutlineOutcome, OutlineTask } from './task.js'

/**
 * @param areas  the layers of each
 * @returns one for each area; undefined where they cannot be united, or take too much
 * @throws ServiceError  Overloaded or Unavailable
 */
export async function outlinesOf(
  areas: readonly (readonly Layer[])[],
  runner: ClipRunner,
  caller: Caller,
): Promise<readonly PlainArea[] | undefined> {
  const included = areas.flat()
  let end = 0
  const choices = areas.map((layers) => {
    const start = end
    end += layers.length
    return { included: Array.from(layers, (_, at) => start + at), excluded: [] }
  })
  const task: OutlineTask = {
    included,
    excluded: [],
    boundaries: [],
    choices,
    problem: undefined,
  }
  const outcome = await runner.run(task, caller)
  if (!('value' in outcome)) return undefined
  const drawn = outcome.value as OutlineOutcome
  return drawn.kind === 'dissolved' ? drawn.regions.map(toArea) : undefined
}
