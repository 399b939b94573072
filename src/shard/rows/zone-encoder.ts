/**
 * The encoder in wasm/ for the shards of one arena. It writes into the scratch zone of this thread,
 * piece by piece, and each piece is copied from the cache to where it is wanted.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { writeDegrees } from '../../geometry/degrees.js'
import { UNITS_PER_DEGREE } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import type { Arena } from '../arena.js'
import type { Shard } from '../layout.js'
import { type RowFormat, rowBytesMax, rowTexts } from './row-format.js'
import * as at from './zone-header.js'

/** Whether a shard and the prefix of its rows are as the encoder needs them. */
export function canEncode({ phones }: Shard, { memory }: Arena, prefix: Uint8Array): boolean {
  // A whole vector is read at each phone. In a service marks lie behind the last one.
  const readEnd = phones.byteOffset + phones.length + at.READ_BYTES
  return readEnd <= memory.buffer.byteLength && prefix.length <= at.PREFIX_BYTES_MAX
}

export class ZoneEncoder {
  readonly #start: number
  readonly #header: DataView
  readonly #texts: Uint8Array
  readonly #runs: Uint32Array
  readonly #piece: Uint8Array
  readonly #encode: (zone: number) => void
  readonly #rowBytes: (zone: number, room: number) => number

  /** @param zone  the first byte of the scratch zone */
  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory, zone: number) {
    const { buffer } = memory
    this.#start = zone + limits.scratchZoneBytes - limits.scratchRowBytes
    this.#header = new DataView(buffer, this.#start, at.HEADER_BYTES)
    this.#texts = new Uint8Array(buffer, this.#start, at.HEADER_BYTES)
    this.#runs = new Uint32Array(buffer, this.#start + RUNS_OFFSET, 2 * RUN_COUNT)
    this.#piece = new Uint8Array(buffer, this.#start + PIECE_OFFSET, PIECE_ROOM_BYTES)
    writeWholes(this.#texts)
    const { exports } = new WebAssembly.Instance(module, { env: { memory } })
    this.#encode = exports.encode as (zone: number) => void
    this.#rowBytes = exports.rowBytes as (zone: number, room: number) => number
  }

  /** `encodeRows` for rows of up to `rowBytes`. */
  encode(
    shard: Shard,
    runs: Uint32Array,
    kind: RowFormat['kind'],
    prefix: Uint8Array,
    into: Uint8Array,
    rowBytes: number,
  ): { rowCount: number; byteCount: number } {
    const header = this.#header
    const lastAt = into.length - rowBytes
    let rowCount = 0
    let byteCount = 0
    this.#ask(shard, kind, prefix)
    for (let run = 0; run < runs.length && byteCount <= lastAt; run += 2 * RUN_COUNT) {
      const runsEnd = this.#handOver(runs.subarray(run, run + 2 * RUN_COUNT))
      while (header.getUint32(at.RUNS_AT, true) < runsEnd && byteCount <= lastAt) {
        byteCount += this.#encodePiece(into, byteCount, Math.min(lastAt - byteCount, PIECE_BYTES))
        rowCount += header.getUint32(at.ROW_COUNT, true)
      }
    }
    return { rowCount, byteCount }
  }

  /** How many bytes `encode` would write, where there is room for all. */
  rowBytes(shard: Shard, runs: Uint32Array, kind: RowFormat['kind'], prefix: Uint8Array): number {
    let byteCount = 0
    this.#ask(shard, kind, prefix)
    for (let run = 0; run < runs.length; run += 2 * RUN_COUNT) {
      this.#handOver(runs.subarray(run, run + 2 * RUN_COUNT))
      byteCount += this.#rowBytes(this.#start, this.#piece.byteOffset) >>> 0
    }
    return byteCount
  }

  /** @returns the end of the runs, as an address */
  #handOver(runs: Uint32Array): number {
    const runsEnd = this.#runs.byteOffset + runs.byteLength
    this.#runs.set(runs)
    this.#header.setUint32(at.RUNS_AT, this.#runs.byteOffset, true)
    this.#header.setUint32(at.RUNS_END_AT, runsEnd, true)
    return runsEnd
  }

  #ask({ coords, phoneOffsets, phones }: Shard, kind: RowFormat['kind'], prefix: Uint8Array): void {
    const header = this.#header
    const { beforeFirst, beforeSecond, end, isLngFirst } = rowTexts[kind]
    header.setUint32(at.COORDS_AT, coords.byteOffset, true)
    header.setUint32(at.OFFSETS_AT, phoneOffsets.byteOffset, true)
    header.setUint32(at.PHONES_AT, phones.byteOffset, true)
    header.setUint32(at.ESCAPES, escapes[kind], true)
    header.setUint32(at.BEFORE_FIRST_BYTES, beforeFirst.length, true)
    header.setUint32(at.BEFORE_SECOND_BYTES, beforeSecond.length, true)
    header.setUint32(at.END_BYTES, end.length, true)
    header.setUint32(at.BETWEEN_BYTES, end.length + prefix.length, true)
    this.#texts.set(signs[kind], at.SIGNS)
    this.#texts.set(isLngFirst ? LNG_FIRST : LAT_FIRST, at.ORDER)
    this.#texts.set(beforeFirst, at.BEFORE_FIRST)
    this.#texts.set(beforeSecond, at.BEFORE_SECOND)
    this.#texts.set(end, at.BETWEEN)
    this.#texts.set(prefix, at.BETWEEN + end.length)
  }

  /**
   * Encodes rows as far as they begin within `lastAt` bytes, and copies them to `into` from `from` on.
   *
   * @returns how many bytes
   */
  #encodePiece(into: Uint8Array, from: number, lastAt: number): number {
    // Shared memory is copied by words only where both ends lie alike, and else byte by byte.
    const skew = (into.byteOffset + from) % WORD_BYTES
    const start = this.#piece.byteOffset + skew
    this.#header.setUint32(at.ROWS_AT, start, true)
    this.#header.setUint32(at.LAST_ROW_AT, start + lastAt, true)
    this.#encode(this.#start)
    const byteCount = this.#header.getUint32(at.ROWS_AT, true) - start
    into.set(this.#piece.subarray(skew, skew + byteCount), from)
    return byteCount
  }
}

/** Signs for which a phone is looked at closely, by their lower halves; braces for brackets. */
const signs: Readonly<Record<RowFormat['kind'], Uint8Array>> = {
  json: signsOf('"|'),
  ndjson: signsOf('"|'),
  csv: signsOf('",{'),
  geojson: signsOf('"|'),
  jsv: signsOf('",:{} '),
}

const escapes: Readonly<Record<RowFormat['kind'], number>> = {
  json: at.ESCAPE_JSON,
  ndjson: at.ESCAPE_JSON,
  csv: at.ESCAPE_CSV,
  geojson: at.ESCAPE_JSON,
  jsv: at.ESCAPE_JSV,
}

/** Bytes of longitude and latitude of two recipients, as they lie in memory and in the other order. */
const LNG_FIRST = Uint8Array.from({ length: 16 }, (_, byte) => byte)
const LAT_FIRST = LNG_FIRST.map((byte) => byte ^ 4)

function signsOf(text: string): Uint8Array {
  const table = new Uint8Array(16)
  for (const sign of text) table[sign.charCodeAt(0) & 15] = sign.charCodeAt(0)
  return table
}

/** Whole degrees of either sign, in the tables of the header. */
function writeWholes(texts: Uint8Array): void {
  const view = new DataView(texts.buffer, texts.byteOffset, texts.byteLength)
  for (let whole = 0; whole <= 180; whole++) {
    const positiveAt = at.WHOLES + 8 * whole
    const byteCount = writeDegrees(whole * UNITS_PER_DEGREE, texts, positiveAt) - positiveAt
    view.setUint32(positiveAt + 4, byteCount, true)
    const negativeAt = positiveAt + at.WHOLES_BELOW_ZERO
    texts[negativeAt] = MINUS
    texts.copyWithin(negativeAt + 1, positiveAt, positiveAt + byteCount)
    view.setUint32(negativeAt + 4, byteCount + 1, true)
  }
}

const MINUS = 0x2d
const WORD_BYTES = 8
/** Runs that are handed over at a time. */
const RUN_COUNT = 8_192
/** Rows that begin within so many bytes are copied at a time: they must still be in the cache. */
const PIECE_BYTES = 16_384
const RUNS_OFFSET = 4_224
const PIECE_OFFSET = RUNS_OFFSET + 8 * RUN_COUNT
const PIECE_ROOM_BYTES = limits.scratchRowBytes - PIECE_OFFSET

assert(RUNS_OFFSET >= at.HEADER_BYTES)
for (const [kind, { beforeFirst, beforeSecond, end }] of Object.entries(rowTexts)) {
  assert(beforeFirst.length <= at.BEFORE_FIRST_BYTES_MAX)
  assert(beforeSecond.length <= at.BEFORE_SECOND_BYTES_MAX)
  assert(end.length <= at.END_BYTES_MAX)
  const lastRowBytes =
    rowBytesMax(kind as RowFormat['kind'], at.PREFIX_BYTES_MAX) + at.PREFIX_BYTES_MAX
  const roomBytes = WORD_BYTES + PIECE_BYTES + lastRowBytes + at.OVERWRITTEN_BYTES
  assert(roomBytes <= PIECE_ROOM_BYTES, 'a piece has room for its last row and the next prefix')
}
