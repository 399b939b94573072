/**
 * Lists of source ids, which limit a feature or a whole request to some sources.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { SourceFilter } from '../geometry/shapes.js'
import { numberOf } from '../interface/quoted.js'
import { limits } from '../limits.js'
import type { Catalogue } from './catalogue.js'
import { kindOf } from './parse.js'

/** A source id that a request named, and where. */
export interface SourceReference {
  readonly id: number
  readonly path: string
}

/** Absent and null are every source; an empty list is none. */
export function readSourceIds(
  value: unknown,
  path: string,
): { sourceIds: SourceFilter; sourceReferences: readonly SourceReference[] } {
  if (value === undefined || value === null) return EVERY_SOURCE
  if (!Array.isArray(value)) {
    refuse('InvalidRequest', `must be a list of source ids, not ${kindOf(value)}`, path)
  }
  if (value.length > limits.sourceCount) {
    refuse('InvalidRequest', `must hold at most ${limits.sourceCount} source ids`, path)
  }
  const sourceReferences = value.map((given: unknown, index) => {
    const at = `${path}[${index}]`
    const id = numberOf(given)
    if (id === undefined || !Number.isInteger(id)) {
      refuse(
        'InvalidRequest',
        `must be the id of a source, a whole number, not ${kindOf(given)}: ${LISTED}`,
        at,
      )
    }
    return { id, path: at }
  })
  const sourceIds = [...new Set(sourceReferences.map(({ id }) => id))].sort((a, b) => a - b)
  return { sourceIds, sourceReferences }
}

const EVERY_SOURCE = { sourceIds: null, sourceReferences: [] }

/** @throws ServiceError  UnknownSource, for an id that the snapshot does not have */
export function refuseUnknownSources(
  references: readonly SourceReference[],
  { sources }: Pick<Catalogue, 'sources'>,
): void {
  if (references.length === 0) return
  const unknown = references.find(({ id }) => sources.every((source) => source.id !== id))
  if (unknown === undefined) return
  refuse('UnknownSource', `is not the id of a source: ${LISTED}`, unknown.path)
}

const LISTED = 'GET /api/sources lists ids and labels'

function refuse(code: 'InvalidRequest' | 'UnknownSource', problem: string, path: string): never {
  throw new ServiceError(code, `${path} ${problem}`, path)
}
