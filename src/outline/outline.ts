/**
 * One outline request, from its members to its answer: what a recipient request selects, as an
 * area.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import { limits } from '../limits.js'
import type { Caller, ClipRunner } from '../pool/tasks.js'
import type { Asker } from '../selection/access.js'
import type { BoundaryRule } from '../selection/boundary.js'
import type { Catalogue } from '../selection/catalogue.js'
import type { NamedAreas } from '../selection/named-areas.js'
import type { JsonObject } from '../selection/parse.js'
import { remarkOnExtents } from '../selection/places.js'
import { refuseUnknownSources } from '../selection/source-ids.js'
import { validate } from '../selection/validate.js'
import { outlineAnswer } from './answer.js'
import { toleranceOf } from './draw.js'
import { groupSources } from './source-groups.js'
import type { OutlineOutcome, OutlineTask, Problem } from './task.js'

export interface OutlineService {
  readonly catalogue: Pick<Catalogue, 'sources' | 'shards'>
  readonly runner: ClipRunner
  /** Which boundary holds for a request. */
  readonly boundaryRule: BoundaryRule
  /** The areas that requests may name; none unless given. */
  readonly areas?: (() => NamedAreas | undefined) | undefined
  /** What becomes of members that a request does not know; refused unless given. */
  readonly unknownMembers?: UnknownMembers | undefined
}

/**
 * @throws ServiceError
 */
export async function outline(
  service: OutlineService,
  request: JsonObject,
  caller: Asker,
): Promise<Answer> {
  const query = validate(request, service.unknownMembers, undefined, service.areas?.())
  const { included, excluded, nearest } = query.shapes
  if (nearest.length > 0) {
    throw new ServiceError(
      'InvalidNearest',
      'nearest picks people, not a place, and has no outline',
      'geoJSON',
    )
  }
  refuseUnknownSources(query.sourceReferences, service.catalogue)
  const boundary = service.boundaryRule.for(query.clipToBoundary, caller.access)
  remarkOnExtents(query, service.catalogue, boundary)
  const boundaries = boundary?.areas ?? []
  const groups = groupSources(
    query,
    service.catalogue.sources.map(({ id }) => id),
  )
  const task = { included, excluded, boundaries, choices: groups, problem: undefined }
  const outcome = await runOrDraw(service.runner, task, caller)
  const layers = [...included, ...excluded, ...boundaries.flat()]
  const toleranceMetres = Number(toleranceOf(layers).toFixed(3))
  return outlineAnswer(groups, outcome, toleranceMetres, query.remarks.warnings)
}

type Drawn = Exclude<OutlineOutcome, { kind: 'tooComplex' }>

/** Unites the shapes, and where that takes too much, lists them as they are. */
async function runOrDraw(runner: ClipRunner, task: OutlineTask, caller: Caller): Promise<Drawn> {
  const outcome = await runner.run(task, caller, (failure): OutlineTask => {
    const problem: Problem = failure === 'Failed' ? 'ClippingFailed' : failure
    return { ...task, problem }
  })
  if ('value' in outcome) return checked(outcome.value as OutlineOutcome, task)
  throw tooComplex('cost more work to draw than one outline may take')
}

function checked(outcome: OutlineOutcome, { boundaries }: OutlineTask): Drawn {
  // An answer that lists shapes as they are has room for one boundary.
  if (outcome.kind === 'drawn' && boundaries.length > 1) throw tooComplex(WITHIN_TWO)
  if (outcome.kind !== 'tooComplex') return outcome
  throw tooComplex(`have an outline of more than ${limits.outlineVertexCount} vertices`)
}

const WITHIN_TWO = 'cannot be united within the boundaries of service and key'

function tooComplex(problem: string): ServiceError {
  const message = `the shapes of this request ${problem}; simplify them, or ask in parts`
  return new ServiceError('TooComplex', message, 'geoJSON')
}
