/**
 * Queries and findings as they travel between a front thread and a worker: many in a few typed arrays, since
 * each object that crosses threads costs more than the search for a small shape.
 *
 *   words     for each query: its kind, how recipients count, its mask and moments, indexes of shards, ids of sources, and all lengths
 *   floats    for each query: when it expires, then vertices, bounds, arcs, radii and positions
 *   findings  for each query: a word that says how it went, then for each shard a count, or the length of a list of runs and the list
 *
 * @module
 */
import type { LayerPart, LayerParts } from '../geometry/layer-parts.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import type { Reaches } from '../geometry/reach/reaches.js'
import type { Layer, Nearest, Shapes, SourceFilter } from '../geometry/shapes.js'
import type { CountMode } from '../shard/select.js'
import type { QueryFault, SelectionKind, SelectionTask } from './tasks.js'

export interface FlatQueries {
  readonly queryCount: number
  readonly words: Uint32Array
  readonly floats: Float64Array
}

/** What a worker needs of a task. */
type Query = Omit<
  SelectionTask<SelectionKind>,
  'given' | 'isLarge' | 'missing' | 'shardIndexes'
> & {
  readonly shardIndexes: ArrayLike<number>
}

/** A query as a worker reads it: its arrays are views into those that travelled. */
export interface TimedQuery extends Omit<Query, 'shardIndexes' | 'mask' | 'since'> {
  readonly shardIndexes: Uint32Array
  readonly since: number
  /** 0 for none. */
  readonly maskId: number
  /** When its request times out, by `sharedClockMs`. */
  readonly expiresMs: number
}

/** Writes queries one behind the other, as `unflatten` reads them, and nothing beyond the ends of the arrays. */
export class QueryWriter {
  readonly words: Uint32Array
  readonly floats: Float64Array
  queryCount = 0
  wordCount = 0
  floatCount = 0

  constructor(words: Uint32Array, floats: Float64Array) {
    this.words = words
    this.floats = floats
  }

  clear(): void {
    this.queryCount = 0
    this.wordCount = 0
    this.floatCount = 0
  }

  /**
   * @param expiresMs  when its request times out, by `sharedClockMs`
   * @returns false when there is no room for the query; then it has not been written
   */
  write(query: Query, expiresMs: number): boolean {
    const { wordCount, floatCount } = this
    this.pushFloat(expiresMs)
    writeQuery(this, query)
    if (this.wordCount <= this.words.length && this.floatCount <= this.floats.length) {
      this.queryCount++
      return true
    }
    this.wordCount = wordCount
    this.floatCount = floatCount
    return false
  }

  pushWord(word: number): void {
    this.words[this.wordCount++] = word
  }

  pushFloat(float: number): void {
    this.floats[this.floatCount++] = float
  }

  /** Adds all words, without their count. */
  pushWords(words: ArrayLike<number>): void {
    copyInto(this.words, this.wordCount, words)
    this.wordCount += words.length
  }

  /** Adds all floats, without their count. */
  pushFloats(floats: ArrayLike<number>): void {
    copyInto(this.floats, this.floatCount, floats)
    this.floatCount += floats.length
  }
}

/** One query in arrays of its own, however large it is. */
export function flatten(query: Query, expiresMs: number): FlatQueries {
  while (!growing.write(query, expiresMs)) {
    growing = new QueryWriter(
      new Uint32Array(2 * growing.words.length),
      new Float64Array(2 * growing.floats.length),
    )
  }
  const words = growing.words.slice(0, growing.wordCount)
  const floats = growing.floats.slice(0, growing.floatCount)
  growing.clear()
  return { queryCount: 1, words, floats }
}

let growing = new QueryWriter(new Uint32Array(1_024), new Float64Array(1_024))

export function unflatten({ queryCount, words, floats }: FlatQueries): TimedQuery[] {
  const from = { words, floats, wordAt: 0, floatAt: 0 }
  const queries: TimedQuery[] = []
  for (let left = queryCount; left > 0; left--) queries.push(readQuery(from))
  return queries
}

/** One query's findings: one entry a shard, or why there are none. */
export type Findings =
  | { readonly counts: ArrayLike<number> }
  | { readonly runs: readonly Uint32Array[] }
  | { readonly fault: QueryFault }

/** In words of 32 bits. */
export function findingsLength(findings: readonly Findings[]): number {
  let length = 0
  for (const each of findings) length += findingLength(each)
  return length
}

/** @param into  as long as `findingsLength` says, or longer */
export function writeFindings(findings: readonly Findings[], into: Uint32Array): void {
  let at = 0
  for (const each of findings) at = writeFinding(each, into, at)
}

/**
 * Reads findings as copies, since their memory is used again: for each query in turn `nextFault`, and without a
 * fault `counts` or `runs`.
 */
export class FindingsReader {
  readonly #flat: Uint32Array
  #at = 0

  constructor(flat: Uint32Array) {
    this.#flat = flat
  }

  /** @returns undefined when the next query has findings */
  nextFault(): QueryFault | undefined {
    const state = this.#flat[this.#at++]
    return state === 0 ? undefined : FAULTS[state - 1]
  }

  counts(shardCount: number): number[] {
    const counts: number[] = []
    for (let left = shardCount; left > 0; left--) counts.push(this.#flat[this.#at++])
    return counts
  }

  runs(shardCount: number): Uint32Array[] {
    const runs: Uint32Array[] = []
    for (let left = shardCount; left > 0; left--) {
      const start = this.#at + 1
      this.#at = start + this.#flat[this.#at]
      runs.push(this.#flat.slice(start, this.#at))
    }
    return runs
  }
}

const KINDS: readonly SelectionKind[] = ['count', 'select', 'cover', 'offer', 'firsts']
const COUNT_MODES: readonly CountMode[] = ['ContactLocation', 'Contact']

/** Copies numbers, unless they run over the end. Most lists are too short for a call into the engine. */
function copyInto(
  into: Uint32Array | Float64Array,
  start: number,
  numbers: ArrayLike<number>,
): void {
  if (start + numbers.length > into.length) return
  if (numbers.length > COPIED_BY_HAND_COUNT) into.set(numbers, start)
  else for (let i = 0; i < numbers.length; i++) into[start + i] = numbers[i]
}

const COPIED_BY_HAND_COUNT = 64

function writeQuery(to: QueryWriter, query: Query): void {
  const { kind, countMode, isDistinct, mask, moment, since = 0, shardIndexes, shapes } = query
  to.pushWord(KINDS.indexOf(kind))
  to.pushWord(COUNT_MODES.indexOf(countMode))
  to.pushWord(isDistinct ? 1 : 0)
  to.pushWord(mask === null ? 0 : mask.id)
  to.pushWord(moment)
  to.pushWord(since)
  writeWords(to, shardIndexes)
  writeLayers(to, shapes.included)
  writeLayers(to, shapes.excluded)
  to.pushWord(shapes.nearest.length)
  for (const each of shapes.nearest) writeNearest(to, each)
}

function writeLayers(to: QueryWriter, layers: readonly Layer[]): void {
  to.pushWord(layers.length)
  for (const layer of layers) {
    writeSources(to, layer.sourceIds)
    for (const write of partWriters) write(to, layer)
  }
}

function writeNearest(to: QueryWriter, { sourceIds, lng, lat, count, isExcluded }: Nearest): void {
  writeSources(to, sourceIds)
  to.pushWord(count)
  to.pushWord(isExcluded ? 1 : 0)
  to.pushFloat(lng)
  to.pushFloat(lat)
}

/** No source and every source are not the same: the count is one more than there are ids. */
function writeSources(to: QueryWriter, sourceIds: SourceFilter): void {
  to.pushWord(sourceIds === null ? 0 : sourceIds.length + 1)
  if (sourceIds !== null) to.pushWords(sourceIds)
}

function writeWords(to: QueryWriter, words: ArrayLike<number>): void {
  to.pushWord(words.length)
  to.pushWords(words)
}

/** One for each part of a layer; `readLayer` reads them in the same order. */
const partWriters = Object.values<(to: QueryWriter, layer: LayerParts) => void>({
  polygons(to, { polygons }) {
    writeWords(to, polygons.polygonStarts)
    writeWords(to, polygons.ringStarts)
    to.pushFloats(polygons.vertices)
    to.pushFloats(polygons.bounds)
  },
  reaches(to, { reaches }) {
    to.pushWord(reaches.radiiMetres.length)
    to.pushFloats(reaches.arcs)
    to.pushFloats(reaches.radiiMetres)
  },
} satisfies Record<LayerPart, (to: QueryWriter, layer: LayerParts) => void>)

interface Reading {
  readonly words: Uint32Array
  readonly floats: Float64Array
  wordAt: number
  floatAt: number
}

function readQuery(from: Reading): TimedQuery {
  const expiresMs = from.floats[from.floatAt++]
  const kind = KINDS[readWord(from)]
  const countMode = COUNT_MODES[readWord(from)]
  const isDistinct = readWord(from) === 1
  const maskId = readWord(from)
  const moment = readWord(from)
  const since = readWord(from)
  const shardIndexes = readWords(from)
  const included = readLayers(from)
  const excluded = readLayers(from)
  const nearest = readList(from, readNearest)
  const shapes = { included, excluded, nearest }
  return { kind, countMode, isDistinct, maskId, moment, since, shardIndexes, shapes, expiresMs }
}

function readLayers(from: Reading): Shapes['included'] {
  return readList(from, readLayer)
}

/** Reads the parts in the order of `partWriters`. */
function readLayer(from: Reading): Layer {
  const sourceIds = readSources(from)
  const polygonStarts = readWords(from)
  const ringStarts = readWords(from)
  const arcCount = readWord(from)
  const polygons: Polygons = {
    vertices: readFloats(from, 2 * ringStarts[ringStarts.length - 1]),
    ringStarts,
    polygonStarts,
    bounds: readFloats(from, 4 * (polygonStarts.length - 1)),
  }
  const reaches: Reaches = {
    arcs: readFloats(from, 4 * arcCount),
    radiiMetres: readFloats(from, arcCount),
  }
  return { sourceIds, polygons, reaches }
}

function readNearest(from: Reading): Nearest {
  const sourceIds = readSources(from)
  const count = readWord(from)
  const isExcluded = readWord(from) === 1
  const lng = from.floats[from.floatAt++]
  const lat = from.floats[from.floatAt++]
  return { sourceIds, lng, lat, count, isExcluded }
}

function readSources(from: Reading): SourceFilter {
  const marked = readWord(from)
  if (marked === 0) return null
  from.wordAt += marked - 1
  return Array.from(from.words.subarray(from.wordAt - marked + 1, from.wordAt))
}

function readList<Item>(from: Reading, read: (from: Reading) => Item): Item[] {
  const items: Item[] = []
  for (let left = readWord(from); left > 0; left--) items.push(read(from))
  return items
}

function readWord(from: Reading): number {
  return from.words[from.wordAt++]
}

function readWords(from: Reading): Uint32Array {
  const count = readWord(from)
  from.wordAt += count
  return from.words.subarray(from.wordAt - count, from.wordAt)
}

function readFloats(from: Reading, count: number): Float64Array {
  from.floatAt += count
  return from.floats.subarray(from.floatAt - count, from.floatAt)
}

const FAULTS: readonly QueryFault[] = ['TooComplex', 'Unavailable']

function findingLength(findings: Findings): number {
  if ('counts' in findings) return 1 + findings.counts.length
  if ('fault' in findings) return 1
  return findings.runs.reduce((sum, runs) => sum + 1 + runs.length, 1)
}

function writeFinding(findings: Findings, into: Uint32Array, start: number): number {
  let at = start
  into[at++] = 'fault' in findings ? 1 + FAULTS.indexOf(findings.fault) : 0
  if ('counts' in findings) {
    into.set(findings.counts, at)
    at += findings.counts.length
  } else if ('runs' in findings) {
    for (const runs of findings.runs) {
      into[at++] = runs.length
      into.set(runs, at)
      at += runs.length
    }
  }
  return at
}
