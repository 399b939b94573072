/**
 * All areas of a version by their names and their bounds, as flat arrays that are read at once: what is
 * searched is in memory, and polygons are not.
 *
 *   bytes      what
 *   0 to 4     CRC-32 of all that follows
 *   4 to 8     areas
 *   8 to 12    bytes of the labels
 *   12 to 16   bytes of the texts
 *   16 …       bounds in units, four doubles an area: min lng, min lat, max lng, max lat; where its label
 *              starts, and where the last one ends; the same for its text; the labels; the texts
 *
 * A label is the id, the name and the aliases, with line ends between them. A text is what is searched: the
 * name and the key, folded (names.ts), with a line end between them and a zero behind. Areas lie in the order
 * of their texts and ids.
 *
 * @module
 */
import { crc32 } from 'node:zlib'
import { type AreaText, DamagedRecord } from './area-record.js'
import { folded } from './names.js'

export interface IndexedArea extends AreaText {
  /** In units. */
  readonly bounds: readonly [minLng: number, minLat: number, maxLng: number, maxLat: number]
}

const HEADER_BYTES = 16

export function encodeIndex(areas: readonly IndexedArea[]): Buffer {
  const sorted = areas
    .map((area) => ({ ...area, text: textOf(area) }))
    .sort((a, b) => compare(a.text, b.text) || compare(a.id, b.id))
  const labels = sorted.map(({ id, name, aliases }) =>
    Buffer.from([id, name, ...aliases].join('\n')),
  )
  const texts = sorted.map(({ text }) => Buffer.from(text))
  const [labelStarts, textStarts] = [startsOf(labels), startsOf(texts)]
  const bounds = Float64Array.from(sorted.flatMap((area) => [...area.bounds]))
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(sorted.length, 4)
  header.writeUInt32LE(labelStarts[sorted.length], 8)
  header.writeUInt32LE(textStarts[sorted.length], 12)
  const arrays = [bounds, labelStarts, textStarts].map((array) => Buffer.from(array.buffer))
  const index = Buffer.concat([header, ...arrays, ...labels, ...texts])
  index.writeUInt32LE(crc32(index.subarray(4)), 0)
  return index
}

/** As areas are ordered and searched. */
function textOf({ id, name }: Pick<AreaText, 'id' | 'name'>): string {
  return `${folded(name)}\n${folded(id.slice(id.indexOf(':') + 1))}\0`
}

/** By their code units, wherever it is done. */
function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function startsOf(parts: readonly Buffer[]): Uint32Array {
  const starts = new Uint32Array(parts.length + 1)
  for (const [i, { length }] of parts.entries()) starts[i + 1] = starts[i] + length
  return starts
}

export class AreaIndex {
  readonly count: number
  readonly #bounds: Float64Array
  readonly #labelStarts: Uint32Array
  readonly #textStarts: Uint32Array
  readonly #labels: Buffer
  readonly #texts: Buffer

  /** @throws DamagedRecord */
  constructor(stored: Uint8Array) {
    // Copied to where numbers of their size may lie.
    const bytes = Buffer.from(new Uint8Array(stored).buffer)
    if (bytes.length < HEADER_BYTES || crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) {
      throw new DamagedRecord('the index has another checksum than was written')
    }
    const { buffer } = bytes
    this.count = bytes.readUInt32LE(4)
    const labelsAt = HEADER_BYTES + 32 * this.count + 8 * (this.count + 1)
    const textsAt = labelsAt + bytes.readUInt32LE(8)
    const startsAt = HEADER_BYTES + 32 * this.count
    this.#bounds = new Float64Array(buffer, HEADER_BYTES, 4 * this.count)
    this.#labelStarts = new Uint32Array(buffer, startsAt, this.count + 1)
    this.#textStarts = new Uint32Array(buffer, startsAt + 4 * (this.count + 1), this.count + 1)
    this.#labels = bytes.subarray(labelsAt, textsAt)
    this.#texts = bytes.subarray(textsAt, textsAt + bytes.readUInt32LE(12))
  }

  /** Of the area at a position in the order of texts. */
  areaAt(position: number): IndexedArea {
    const [start, end] = [this.#labelStarts[position], this.#labelStarts[position + 1]]
    const [id, name, ...aliases] = this.#labels.toString('utf8', start, end).split('\n')
    const [minLng, minLat, maxLng, maxLat] = this.#bounds.subarray(4 * position, 4 * position + 4)
    return { id, name, aliases, bounds: [minLng, minLat, maxLng, maxLat] }
  }

  /** Whether an area is of a layer, as that is written. */
  isOf(layer: string, position: number): boolean {
    const start = this.#labelStarts[position]
    const end = start + layer.length
    // Names of layers are of ASCII.
    return this.#labels[end] === COLON && this.#labels.toString('latin1', start, end) === layer
  }

  /** Positions whose bounds hold a place in units, in order. */
  *holding(lng: number, lat: number): Generator<number> {
    const bounds = this.#bounds
    for (let at = 0; at < bounds.length; at += 4) {
      if (lng < bounds[at] || lat < bounds[at + 1] || lng > bounds[at + 2]) continue
      if (lat <= bounds[at + 3]) yield at / 4
    }
  }

  /**
   * How well a text is in that of an area: 0 where a word begins with it, 1 where it is anywhere else, and
   * undefined where it is not.
   *
   * @param text  folded
   */
  rankAt(position: number, text: string): Rank | undefined {
    const own = this.#texts.subarray(this.#textStarts[position], this.#textStarts[position + 1])
    let rank: Rank | undefined
    for (let at = own.indexOf(text); at >= 0; at = own.indexOf(text, at + 1)) {
      if (at === 0 || own[at - 1] <= SPACE) return 0
      rank = 1
    }
    return rank
  }

  /**
   * Positions of areas in whose text a text is, in order.
   *
   * @param text  folded; an empty one is in all
   * @param start  the first position to look at
   */
  *matching(text: string, start: number): Generator<number> {
    if (text === '') {
      for (let position = start; position < this.count; position++) yield position
      return
    }
    const needle = Buffer.from(text)
    for (let position = start; position < this.count; position++) {
      const at = this.#texts.indexOf(needle, this.#textStarts[position])
      if (at < 0) return
      position = this.#textHolding(at)
      yield position
    }
  }

  /** Where an area is; undefined where it is not there. */
  positionOf(area: Pick<AreaText, 'id' | 'name'>): number | undefined {
    const position = this.#lowerBound(area)
    return position < this.count && this.areaAt(position).id === area.id ? position : undefined
  }

  #lowerBound({ id, name }: Pick<AreaText, 'id' | 'name'>): number {
    const text = textOf({ id, name })
    let [low, high] = [0, this.count]
    while (low < high) {
      const middle = (low + high) >> 1
      const { id: other } = this.areaAt(middle)
      const [start, end] = [this.#textStarts[middle], this.#textStarts[middle + 1]]
      const otherText = this.#texts.toString('utf8', start, end)
      if ((compare(otherText, text) || compare(other, id)) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #textHolding(at: number): number {
    let [low, high] = [0, this.count]
    while (low + 1 < high) {
      const middle = (low + high) >> 1
      if (this.#textStarts[middle] <= at) low = middle
      else high = middle
    }
    return low
  }
}

export type Rank = 0 | 1

const COLON = 0x3a
/** Line ends are before it, too. */
const SPACE = 0x20
