/**
 * Makes a batch of recipients of a chunk of `rowQuery`, without a call for each value.
 *
 * @module
 */
import type { DuckDBDataChunk } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import type { RecipientBatch } from '../batch.js'
import type { E164Numbers } from './e164.js'
import type { KeySet } from './key-set.js'
import { cellOf, EXCHANGED_CELL, NO_CELL, PROJECTED_CELL } from './rejected-cells.js'
import type { RejectedTexts } from './rejected-texts.js'
import {
  ACCEPTED,
  EXCHANGED,
  NO_POSITION,
  PROJECTED,
  type RowLayout,
  reasonCode,
} from './row-query.js'
import { TextVector } from './text-vector.js'

/** Where rows go that are not simply accepted. */
interface SpecialSink {
  add(row: number, reason: number, breakCount: number, cell: number): void
}

const KEY_REPEATED = reasonCode('KeyRepeated')
/** What DuckDB puts into a chunk at most. */
const CHUNK_ROW_COUNT = duckdb.vector_size()
const NO_TEXTS = new Uint8Array(0)

export class ChunkReader {
  readonly #layout: RowLayout
  readonly #keys: KeySet
  readonly #special: SpecialSink
  readonly #texts: RejectedTexts | undefined
  readonly #numbers: E164Numbers | undefined
  /** Of each row of a chunk whether its number was changed. */
  readonly #areChanged = new Uint8Array(CHUNK_ROW_COUNT)
  #changedCount = 0
  readonly #phones = new TextVector()
  readonly #contacts = new TextVector()
  readonly #keyTexts = new TextVector()
  /** Of a number, a latitude and a longitude, as they were read. */
  readonly #readTexts = [new TextVector(), new TextVector(), new TextVector()]
  /** Offsets of texts that are all empty. */
  readonly #noOffsets = new Uint32Array(CHUNK_ROW_COUNT + 1)

  /**
   * @param texts  gets the texts of rejected rows, if `rowQuery` was asked for them
   * @param numbers  makes E.164 of the numbers, if that is wanted
   */
  constructor(
    layout: RowLayout,
    keys: KeySet,
    special: SpecialSink,
    texts: RejectedTexts | undefined,
    numbers: E164Numbers | undefined,
  ) {
    this.#layout = layout
    this.#keys = keys
    this.#special = special
    this.#texts = texts
    this.#numbers = numbers
  }

  /** Accepted rows so far whose number was changed. */
  get changedCount(): number {
    return this.#changedCount
  }

  /** @param firstRow  how many rows came before; the batch is overwritten by the next call */
  read(chunk: DuckDBDataChunk, firstRow: number): RecipientBatch {
    const layout = this.#layout
    const count = chunk.rowCount
    const data = (column: number, itemBytes: number) =>
      duckdb.vector_get_data(vectorOf(chunk, column), count * itemBytes)
    const reasons = data(layout.reason, 1)
    const lats = int32(data(layout.lat, 4))
    const lngs = int32(data(layout.lng, 4))
    this.#phones.read(vectorOf(chunk, layout.number), count)
    if (layout.contact !== -1) this.#contacts.read(vectorOf(chunk, layout.contact), count)
    if (this.#numbers !== undefined) this.#normalize(this.#numbers, reasons, count)
    if (layout.key !== -1) {
      this.#keyTexts.read(vectorOf(chunk, layout.key), count)
      this.#rejectRepeated(reasons, count)
    }
    const breaks = layout.breaks === -1 ? undefined : int32(data(layout.breaks, 4))
    let acceptedCount = 0
    for (let row = 0; row < count; row++) {
      const reason = reasons[row]
      const breakCount = breaks === undefined ? 0 : breaks[row]
      if (reason !== ACCEPTED) {
        const cell =
          lats[row] === NO_POSITION ? strangeCell(lngs[row]) : cellOf(lngs[row], lats[row])
        this.#special.add(firstRow + row, reason, breakCount, cell)
        continue
      }
      if (breakCount > 0) this.#special.add(firstRow + row, reason, breakCount, NO_CELL)
      this.#changedCount += this.#areChanged[row]
      // Those that follow one that is rejected move up.
      if (acceptedCount < row) {
        lats[acceptedCount] = lats[row]
        lngs[acceptedCount] = lngs[row]
      }
      acceptedCount++
    }
    if (acceptedCount < count) {
      if (this.#texts !== undefined) this.#keepTexts(chunk, reasons, this.#texts)
      dropTexts(this.#phones, reasons, count)
      if (layout.contact !== -1) dropTexts(this.#contacts, reasons, count)
      if (layout.key !== -1) dropTexts(this.#keyTexts, reasons, count)
    }
    return {
      recipientCount: acceptedCount,
      lngs: lngs.subarray(0, acceptedCount),
      lats: lats.subarray(0, acceptedCount),
      ...this.#batchTexts(acceptedCount),
    }
  }

  #keepTexts(chunk: DuckDBDataChunk, reasons: Uint8Array, kept: RejectedTexts): void {
    const { phoneText, latText, lngText } = this.#layout
    for (const [index, column] of [phoneText, latText, lngText].entries()) {
      this.#readTexts[index].read(vectorOf(chunk, column), chunk.rowCount)
    }
    for (let row = 0; row < chunk.rowCount; row++) {
      if (reasons[row] === ACCEPTED) continue
      for (const { bytes, offsets } of this.#readTexts) {
        kept.add(bytes, offsets[row], offsets[row + 1])
      }
    }
  }

  #normalize(numbers: E164Numbers, reasons: Uint8Array, count: number): void {
    const areChanged = this.#areChanged
    this.#phones.replace(count, (row, text) => {
      areChanged[row] = 0
      if (reasons[row] !== ACCEPTED) return undefined
      const { number, fault } = numbers.read(text)
      if (fault !== undefined) reasons[row] = reasonCode(fault)
      if (number === text) return undefined
      areChanged[row] = 1
      return number
    })
  }

  #rejectRepeated(reasons: Uint8Array, count: number): void {
    const { bytes, offsets } = this.#keyTexts
    for (let row = 0; row < count; row++) {
      if (reasons[row] !== ACCEPTED) continue
      if (!this.#keys.add(bytes, offsets[row], offsets[row + 1])) reasons[row] = KEY_REPEATED
    }
  }

  #batchTexts(count: number) {
    const phoneOffsets = this.#phones.offsets.subarray(0, count + 1)
    const hasContacts = this.#layout.contact !== -1
    const contactOffsets = (hasContacts ? this.#contacts.offsets : this.#noOffsets).subarray(
      0,
      count + 1,
    )
    return {
      phoneOffsets,
      phones: this.#phones.bytes.subarray(0, phoneOffsets[count]),
      contactOffsets,
      contacts: hasContacts ? this.#contacts.bytes.subarray(0, contactOffsets[count]) : NO_TEXTS,
      ...(this.#layout.key !== -1 && this.#batchKeys(count)),
    }
  }

  #batchKeys(count: number) {
    const { bytes, offsets } = this.#keyTexts
    return { keyOffsets: offsets.subarray(0, count + 1), keys: bytes.subarray(0, offsets[count]) }
  }
}

function strangeCell(lng: number): number {
  if (lng === EXCHANGED) return EXCHANGED_CELL
  return lng === PROJECTED ? PROJECTED_CELL : NO_CELL
}

function vectorOf(chunk: DuckDBDataChunk, column: number) {
  return duckdb.data_chunk_get_vector(chunk.chunk, column)
}

function int32(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}

/** Takes the texts of rejected rows away, in place. */
function dropTexts(texts: TextVector, reasons: Uint8Array, count: number): void {
  const { bytes, offsets } = texts
  let kept = 0
  let end = 0
  for (let row = 0; row < count; row++) {
    if (reasons[row] !== ACCEPTED) continue
    const [from, to] = [offsets[row], offsets[row + 1]]
    if (end < from) bytes.copyWithin(end, from, to)
    end += to - from
    offsets[++kept] = end
  }
}
