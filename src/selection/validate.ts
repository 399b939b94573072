/**
 * Second stage: makes a query from a JSON object. Every later stage may trust the query.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.js'
import type { Shapes, SourceFilter } from '../geometry/shapes.js'
import { flagOf, nameOf, numberOf, wholeNumber } from '../interface/quoted.js'
import { RecipientRequestSchema } from '../interface/recipients.js'
import type { UnknownMembers } from '../interface/unknown-members.js'
import type { CountMode } from '../shard/select.js'
import type { NamedArea, NamedAreas } from './named-areas.js'
import { type JsonObject, kindOf } from './parse.js'
import { Remarks } from './remarks.js'
import { givenMembers, single } from './request-members.js'
import { readDrawings } from './shapes/all-drawings.js'
import type { Drawing } from './shapes/drawing.js'
import { type FeatureExtents, type FeatureNote, featurePath } from './shapes/feature-extents.js'
import { readSourceIds, type SourceReference } from './source-ids.js'

declare const valid: unique symbol

export interface Query {
  readonly [valid]: true
  readonly countsOnly: boolean
  /** Undefined where the request leaves it to the configuration. */
  readonly countMode: CountMode | undefined
  /** Whether each phone is given once, over all sources that are answered for. */
  readonly isDistinct: boolean
  /** Undefined where the request leaves it to the service. */
  readonly clipToBoundary: boolean | undefined
  /** Whether an answer may be without those who cannot be reached. */
  readonly isPartial: boolean
  /** The sources that are answered for. */
  readonly sourceIds: SourceFilter
  /** Every source id that was named; whether the snapshot has it is for a later stage to say. */
  readonly sourceReferences: readonly SourceReference[]
  /** No shape at all selects nobody. */
  readonly shapes: Shapes
  /** What each feature became. */
  readonly extents: FeatureExtents
  /** Where the shapes are whole areas of the gazetteer, for all sources: a key of these areas. */
  readonly named: string | undefined
  /** What may be wrong with the request all the same. */
  readonly remarks: Remarks
  /** Recipients of a list, at most. */
  readonly limit: number | undefined
  /** A cursor, as it was sent. */
  readonly after: string | undefined
  /** The batch of the journal of changes that must be in the answer; undefined where any will do. */
  readonly minSequence: number | undefined
}

/**
 * @param unknownMembers  what becomes of members that are not known
 * @param memberNames  that a client is told of then; those of a recipient request unless given
 * @param areas  that the request may name
 * @throws ServiceError  naming the member at fault
 */
export function validate(
  request: JsonObject,
  unknownMembers?: UnknownMembers,
  memberNames?: readonly string[],
  areas?: NamedAreas,
): Query {
  const remarks = new Remarks(unknownMembers)
  const given = givenMembers(request, remarks, memberNames)
  const drawing = readDrawings(given, remarks, areas)
  if (drawing.notes !== undefined) tell(drawing.notes, remarks)
  if (asksForNobody(drawing)) remarks.add('NothingAsked', nothingAsked(drawing))
  const filter = readSourceIds(single(given.sources), 'sources')
  if (filter.sourceIds?.length === 0) remarks.add('NothingAsked', NO_SOURCE, 'sources')
  const query: Omit<Query, typeof valid> = {
    countsOnly: readBoolean(single(given.countsOnly), 'countsOnly'),
    countMode: readCountMode(single(given.contactCountMode)),
    isDistinct: readBoolean(single(given.distinct), 'distinct'),
    clipToBoundary: readBooleanIfGiven(single(given.clipToBoundary), 'clipToBoundary'),
    isPartial: readBoolean(single(given.partial), 'partial'),
    sourceIds: filter.sourceIds,
    sourceReferences: joined(filter.sourceReferences, drawing.sourceReferences),
    shapes: drawing.shapes,
    extents: drawing.extents,
    named: areas && drawing.named && keyOf(areas.version, drawing.named),
    remarks,
    limit: readLimit(single(given.limit)),
    after: readAfter(single(given.after)),
    minSequence: readMinSequence(single(given.minSequence)),
  }
  return query as Query
}

const NO_SOURCE = 'is an empty list, which selects nobody: leave it out for all sources'

/** The same for the same areas of the same gazetteer, in any order. */
function keyOf(version: string, named: readonly NamedArea[]): string {
  if (named.length === 1) return `${version} ${named[0].id}`
  const ids = [...new Set(named.map(({ id }) => id))].sort()
  return `${version} ${createHash('sha256').update(ids.join(' ')).digest('base64')}`
}

function tell(notes: readonly FeatureNote[], remarks: Remarks): void {
  for (const { drawing, feature, code } of notes) {
    remarks.add(code, NOTES[code], featurePath(drawing, feature))
  }
}

/** Whether nothing is drawn that selects; of an empty geometry its note says so. */
function asksForNobody({ shapes, extents, notes }: Drawing): boolean {
  if (shapes.nearest.length > 0 || extents.some(({ isExcluded }) => !isExcluded)) return false
  return notes === undefined || notes.every(({ code }) => code !== 'NoGeometry')
}

function nothingAsked({ extents }: Drawing): string {
  return extents.length > 0
    ? 'all that is drawn excludes, which selects nobody: draw also from whom it is taken away'
    : 'nothing is drawn, which selects nobody: shapes are in geoJSON, wkt, bbox, cap and others; areas names areas'
}

const NOTES: Readonly<Record<FeatureNote['code'], string>> = {
  NoGeometry: 'has no geometry, or an empty one, and selects nobody',
  PointWithoutRadius:
    'is a point without a radius, and selects who is exactly there: give it a radius in metres',
  LineWithoutBuffer:
    'is a line without a buffer, and selects who is exactly on it: give it a buffer in metres',
}

function joined<Item>(first: readonly Item[], second: readonly Item[]): readonly Item[] {
  if (first.length === 0) return second
  return second.length === 0 ? first : [...first, ...second]
}

/** Absent and null are false. */
function readBoolean(value: unknown, field: string): boolean {
  return readBooleanIfGiven(value, field) ?? false
}

/** `"true"`, `"false"`, 1 and 0 are taken as some clients write them. */
function readBooleanIfGiven(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  const flag = flagOf(value)
  if (flag !== undefined) return flag
  throw new ServiceError(
    'InvalidRequest',
    `${field} must be true or false, not ${kindOf(value)}`,
    field,
  )
}

function readCountMode(value: unknown): CountMode | undefined {
  if (value === undefined || value === null) return undefined
  const mode = nameOf(COUNT_MODES, value)
  if (mode !== undefined) return mode
  const field = 'contactCountMode'
  throw new ServiceError('InvalidRequest', `${field} must be ContactLocation or Contact`, field)
}

const COUNT_MODES: readonly CountMode[] = ['ContactLocation', 'Contact']

function readLimit(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  return wholeNumber(value, 'limit', RecipientRequestSchema.properties.limit)
}

function readMinSequence(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const sequence = numberOf(value)
  if (sequence !== undefined && Number.isSafeInteger(sequence) && sequence >= 0) return sequence
  const problem = 'minSequence must be the Sequence of a batch of changes, a whole number'
  throw new ServiceError('InvalidRequest', problem, 'minSequence')
}

/** Whose cursor it is, and how far it goes, is for a later stage to say. */
function readAfter(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw new ServiceError('InvalidRequest', `after must be a text, not ${kindOf(value)}`, 'after')
}
