/**
 * Queries as they travel: many in two typed arrays, since each object that crosses threads costs
 * more than the search for a small shape.
 *
 *   words   for each query: its kind, how recipients count, indexes of shards, ids of sources, and all lengths
 *   floats  for each query: when it expires, then vertices, bounds, arcs, radii and positions
 *
 * @module
 */
import type { LayerPart, LayerParts } from '../geometry/layer-parts.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import type { Reaches } from '../geometry/reach/reaches.js'
import type { Layer, Nearest, Shapes, SourceFilter } from '../geometry/shapes.js'
import type { CountMode } from '../shard/select.js'
import type { SelectionKind, SelectionTask } from './messages.js'

export interface FlatQueries {
  readonly queryCount: number
  readonly words: Uint32Array
  readonly floats: Float64Array
}

/** A query as a worker takes it: its arrays are views into those that travelled. */
export interface TimedQuery extends Omit<SelectionTask<SelectionKind>, 'isLarge'> {
  /** When nobody waits for it any more, by `sharedClockMs`. */
  readonly expiresMs: number
}

export function flatten(queries: readonly TimedQuery[]): FlatQueries {
  words.clear()
  floats.clear()
  for (const query of queries) writeQuery(query)
  return { queryCount: queries.length, words: words.toArray(), floats: floats.toArray() }
}

export function unflatten({ queryCount, words, floats }: FlatQueries): TimedQuery[] {
  const from = { words, floats, wordAt: 0, floatAt: 0 }
  return Array.from({ length: queryCount }, () => readQuery(from))
}

const KINDS: readonly SelectionKind[] = ['count', 'select']
const COUNT_MODES: readonly CountMode[] = ['ContactLocation', 'Contact']

/** A typed array that grows; reused, so that a task costs one array of its own. */
class Column<Numbers extends Uint32Array | Float64Array> {
  #numbers: Numbers
  #count = 0
  readonly #create: (length: number) => Numbers

  constructor(create: (length: number) => Numbers) {
    this.#create = create
    this.#numbers = create(1_024)
  }

  clear(): void {
    this.#count = 0
  }

  push(number: number): void {
    this.#reserve(1)
    this.#numbers[this.#count++] = number
  }

  /** Adds all numbers, without their count. */
  pushAll(numbers: ArrayLike<number>): void {
    this.#reserve(numbers.length)
    this.#numbers.set(numbers, this.#count)
    this.#count += numbers.length
  }

  toArray(): Numbers {
    return this.#numbers.slice(0, this.#count) as Numbers
  }

  #reserve(more: number): void {
    if (this.#count + more <= this.#numbers.length) return
    const grown = this.#create(2 * (this.#count + more))
    grown.set(this.#numbers)
    this.#numbers = grown
  }
}

const words = new Column((length) => new Uint32Array(length))
const floats = new Column((length) => new Float64Array(length))

function writeQuery(query: TimedQuery): void {
  const { kind, countMode, isDistinct, shardIndexes, shapes, expiresMs } = query
  floats.push(expiresMs)
  words.push(KINDS.indexOf(kind))
  words.push(COUNT_MODES.indexOf(countMode))
  words.push(Number(isDistinct))
  writeWords(shardIndexes)
  for (const layers of [shapes.included, shapes.excluded]) {
    words.push(layers.length)
    for (const layer of layers) writeLayer(layer)
  }
  words.push(shapes.nearest.length)
  for (const each of shapes.nearest) writeNearest(each)
}

function writeLayer(layer: Layer): void {
  writeSources(layer.sourceIds)
  for (const write of partWriters) write(layer)
}

function writeNearest({ sourceIds, lng, lat, count, isExcluded }: Nearest): void {
  writeSources(sourceIds)
  words.push(count)
  words.push(Number(isExcluded))
  floats.push(lng)
  floats.push(lat)
}

/** No source and every source are not the same: the count is one more than there are ids. */
function writeSources(sourceIds: SourceFilter): void {
  words.push(sourceIds === null ? 0 : sourceIds.length + 1)
  if (sourceIds !== null) words.pushAll(sourceIds)
}

function writeWords(numbers: ArrayLike<number>): void {
  words.push(numbers.length)
  words.pushAll(numbers)
}

/** One for each part of a layer; `readLayer` reads them in the same order. */
const partWriters = Object.values<(layer: LayerParts) => void>({
  polygons({ polygons }) {
    writeWords(polygons.polygonStarts)
    writeWords(polygons.ringStarts)
    floats.pushAll(polygons.vertices)
    floats.pushAll(polygons.bounds)
  },
  reaches({ reaches }) {
    words.push(reaches.radiiMetres.length)
    floats.pushAll(reaches.arcs)
    floats.pushAll(reaches.radiiMetres)
  },
} satisfies Record<LayerPart, (layer: LayerParts) => void>)

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
  const shardIndexes = readWords(from)
  const included = readLayers(from)
  const excluded = readLayers(from)
  const nearest = readList(from, readNearest)
  const shapes = { included, excluded, nearest }
  return { kind, countMode, isDistinct, shardIndexes, shapes, expiresMs }
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
