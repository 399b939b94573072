/**
 * A stored context as it is answered: with who is inside each of its areas now.
 *
 * @module
 */
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { warningHeaders } from '../format/warning-headers.js'
import {
  type Area,
  AreaSchema,
  areaColumns,
  type Contact,
  type MapContext,
  MapContextSchema,
} from '../interface/context.js'
import { limits } from '../limits.js'
import type { Asker } from '../selection/access.js'
import { checkFreshness, type Freshness } from '../selection/freshness.js'
import { Remarks } from '../selection/remarks.js'
import { shapeOf } from '../store/shape-of.js'
import type { Store, StoredContext } from '../store/store.js'
import type { WrittenContext } from '../store/written-context.js'
import { areaFeatures } from './area-features.js'
import { remarkOnAreas } from './context-warnings.js'
import { columnsOf, documentAnswer, type Row, taggedHeaders } from './document-answer.js'
import type { Basis, LiveCounts, ShapeState } from './live-counts.js'

/**
 * @param written  what was stored a moment ago, and others may have changed since; without it, what
 *   is stored now
 * @throws ServiceError  NotFound
 */
export type ReadContext = (id: string, asker: Asker, written?: WrittenContext) => Promise<Answer>

/** @param freshness  on a machine of a cluster alone */
export function contextReader(
  store: Store,
  counts: LiveCounts,
  freshness?: Freshness,
): ReadContext {
  // The same stored text, counted by the same basis, is the same answer for ever.
  const kept = new LRUCache<string, KeptAnswer>({
    maxSize: limits.keptAnswerBytes,
    sizeCalculation: ({ json }) => json.byteLength,
  })
  return async (id, asker, written) => {
    const remarks = new Remarks()
    checkFreshness(freshness, false, remarks)
    const isLagging = remarks.warnings !== undefined
    const basis = counts.basis(asker.access)
    // Keys with a boundary each have an answer of their own.
    const name = asker.access.boundary === undefined ? id : `${id} ${basis.boundaryKey}`
    const last = kept.get(name)
    const version = written?.header.version ?? store.contextVersion(id)
    const isKept = last !== undefined && isSame(last, basis) && last.version === version
    if (isKept && !isLagging) {
      return contextAnswer(last)
    }
    const stored = written === undefined ? store.context(id) : asStored(written)
    if (stored === undefined) throw noSuchContext()
    const { context, isFinal } = await countedContext(stored, counts, basis, asker, remarks)
    const json = Buffer.from(JSON.stringify(context))
    const headers = {
      ...(isLagging ? { 'Cache-Control': 'no-store' } : taggedHeaders(json)),
      ...warningHeaders(context.Warnings),
    }
    const { version: storedVersion } = stored
    const { Warnings: warnings } = context
    const answer = { id, json, headers, warnings, version: storedVersion, ...basis }
    if (isFinal && !isLagging) kept.set(name, answer)
    return contextAnswer(answer)
  }
}

export function noSuchContext(): ServiceError {
  return new ServiceError('NotFound', 'there is no context with this Id')
}

function asStored({ header, json, shapeHashes }: WrittenContext): StoredContext {
  return { version: header.version, json: Buffer.from(json), shapeHashes }
}

interface KeptAnswer extends Basis {
  /** Of the context. */
  readonly id: string
  readonly json: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly warnings: MapContext['Warnings'] | undefined
  readonly version: string
}

function isSame(left: Basis, right: Basis): boolean {
  return (
    left.snapshotId === right.snapshotId &&
    left.sequence === right.sequence &&
    left.countMode === right.countMode &&
    left.suppressionVersion === right.suppressionVersion &&
    left.boundaryKey === right.boundaryKey
  )
}

function contextAnswer({ id, json, headers, warnings, snapshotId }: KeptAnswer): Answer {
  const facts = () => ({ snapshotId, contextId: id })
  return {
    ...documentAnswer({ json, columns: COLUMNS, table: AREAS, headers }),
    warnings,
    records: () => [{ facts }],
    geoJson: () => areaFeatures(() => JSON.parse(Buffer.from(json).toString()) as MapContext),
  }
}

/** Warnings have a header. Where a context is an alert, tables do not say. */
const COLUMNS = columnsOf(MapContextSchema).filter((name) => !['Alert', 'Warnings'].includes(name))

const AREA_MEMBERS = columnsOf(AreaSchema)

export const AREAS = {
  columns: areaColumns,
  rows: ({ Areas = [] }: Row) => Areas as readonly Row[],
}

/** `isFinal` where no area is uncertain. */
async function countedContext(
  { json, shapeHashes }: StoredContext,
  counts: LiveCounts,
  basis: Basis,
  asker: Asker,
  remarks: Remarks,
): Promise<{ context: MapContext; isFinal: boolean }> {
  const context = JSON.parse(Buffer.from(json).toString()) as MapContext
  const { Areas } = context
  if (Areas === undefined) return { context: { ...context, ...warned(remarks) }, isFinal: true }
  const shapes = Areas.flatMap((area, i) => {
    const hash = shapeHashes[i]
    const geometry = shapeOf(area)
    return geometry === undefined || hash === null ? [] : [{ hash, geometry }]
  })
  // Before the pause, behind which there may be another snapshot.
  const nowhere = counts.nowhere()
  const places = counts.places(asker.access)
  const states = await counts.of(shapes, basis, asker)
  const areas = Areas.map((area, i) => {
    const hash = shapeHashes[i]
    return countedArea(area, (hash === null ? undefined : states.get(hash)) ?? nowhere)
  })
  remarkOnAreas(areas, places, remarks)
  return {
    context: { ...context, Areas: areas, ...warned(remarks) },
    isFinal: [...states.values()].every(({ isFresh }) => isFresh),
  }
}

const warned = ({ warnings }: Remarks) => warnings && { Warnings: warnings }

/** An area with its computed members, in the order of the schema. */
function countedArea(area: Area, state: ShapeState): Area {
  const { contacts, isUpdating, hasFailed, isInvalid } = state
  const all: Area = {
    ...area,
    IsUpdatingContactList: isUpdating,
    ...(contacts !== undefined && {
      Contacts: [...contacts],
      ContactTotalCount: totalOf(contacts),
    }),
    HasContactCountError: hasFailed,
    HasInvalidShapeError: isInvalid,
  }
  const members = all as Record<string, unknown>
  const names = AREA_MEMBERS.filter((name) => members[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, members[name]]))
}

function totalOf(contacts: readonly Contact[]): number {
  return contacts.reduce((sum, { Count = 0 }) => sum + Count, 0)
}
