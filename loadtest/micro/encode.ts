/**
 * How fast do recipients become bytes, chunk by chunk as the service sends them?
 *
 * @module
 */
import assert from 'node:assert/strict'
import { csvRowPrefix, ndjsonRowPrefix } from '../../src/format/recipients.js'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import { limits } from '../../src/limits.js'
import type { Shard } from '../../src/shard/layout.js'
import { encodeRows, rowBytes } from '../../src/shard/rows/encode-rows.js'
import type { RowFormat } from '../../src/shard/rows/row-format.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Finding } from './harness/compare.js'
import { fullPlan, measure, type Timing } from './harness/measure.js'
import type { Question } from './harness/stage.js'

const ROW_COUNT_MAX = 400_000

export const encode: Question = async ({ world }) => {
  const [shard] = world.shards
  const lists = chunksOf(shard)
  const rowCount = Math.min(ROW_COUNT_MAX, shard.recipientCount)
  const objects = lists.map((runs) => toObjects(shard, runs))
  assertSameText(shard, lists, objects)
  return [
    compareEncoders(shard, lists, rowCount, {
      'naive: Buffer.from(JSON.stringify(objects))': () =>
        objects.reduce((sum, rows) => sum + Buffer.from(JSON.stringify(rows)).length, 0),
    }),
    compareEncoders(shard, smallListsOf(shard), rowCount, {}),
  ]
}

const plainName = (name: string) => `${name}, in TypeScript`

const formats: Readonly<Record<string, RowFormat>> = {
  JSON: { kind: 'json' },
  NDJSON: { kind: 'ndjson', prefix: ndjsonRowPrefix(1) },
  CSV: { kind: 'csv', prefix: csvRowPrefix(1, 'Residents') },
  JSV: { kind: 'jsv' },
}

/** @param others  further ways to encode the same rows */
function compareEncoders(
  shard: Shard,
  lists: readonly Uint32Array[],
  rowCount: number,
  others: Readonly<Record<string, () => number>>,
): Finding {
  const plain = { ...shard, arena: null }
  const ways: Record<string, () => number> = {}
  for (const [name, format] of Object.entries(formats)) {
    ways[name] = () => encodedBytes(shard, lists, format)
    ways[plainName(name)] = () => encodedBytes(plain, lists, format)
    ways[`${name}, its length`] = () => countedBytes(shard, lists, format)
  }
  const measured = Object.entries({ ...ways, ...others }).map(([name, pass]) => ({
    name,
    byteCount: pass(),
    timing: measure(pass, fullPlan),
  }))
  const medianMs = new Map(measured.map(({ name, timing }) => [name, timing.medianMs]))
  const speed = (name: string) => {
    const plainMs = medianMs.get(plainName(name))
    return plainMs === undefined ? '' : `${formatFigure(plainMs / (medianMs.get(name) ?? 0))}×`
  }
  return {
    table: {
      title:
        `encoding: ${formatCount(rowCount)} rows, ${formatCount(rowCount / lists.length)} at a time ` +
        `in ${lists[0].length / 2} run(s), JSON equal to the byte`,
      header: ['ns a row', 'min', 'median', 'p10', 'p90', 'passes', 'rows/s', 'MB/s', 'to TS'],
      rows: measured.map(({ name, timing, byteCount }) => [
        name,
        ...nanos(timing, rowCount),
        String(timing.repetitionCount),
        formatCount((1000 * rowCount) / timing.medianMs),
        formatCount(byteCount / 1000 / timing.medianMs),
        speed(name),
      ]),
    },
    ways: measured.map(({ name, timing }) => ({ name, itemCount: rowCount, timing })),
    notes: ['to TS: how much faster than the encoder in TypeScript'],
  }
}

interface Row {
  readonly Number: string
  readonly LatLng: { readonly Lat: number; readonly Lng: number }
}

/** One run a chunk: neighbours in the index, as a shape would select them. */
function chunksOf({ recipientCount }: Shard): Uint32Array[] {
  const chunks: Uint32Array[] = []
  const rowEnd = Math.min(ROW_COUNT_MAX, recipientCount)
  for (let start = 0; start < rowEnd; start += limits.rowsPerChunkCount) {
    chunks.push(Uint32Array.of(start, Math.min(rowEnd, start + limits.rowsPerChunkCount)))
  }
  return chunks
}

/** Lists of few rows in many short runs, as along the edges of a shape. */
function smallListsOf({ recipientCount }: Shard): Uint32Array[] {
  const rowEnd = Math.min(ROW_COUNT_MAX, recipientCount)
  const listRowCount = SMALL_RUN_COUNT * SMALL_RUN_ROW_COUNT
  return Array.from({ length: rowEnd / listRowCount }, (_, list) =>
    Uint32Array.from({ length: 2 * SMALL_RUN_COUNT }, (_, bound) => {
      const run = SMALL_RUN_COUNT * list + (bound >> 1)
      return SMALL_RUN_ROW_COUNT * (run + (bound & 1))
    }),
  )
}

const SMALL_RUN_COUNT = 20
const SMALL_RUN_ROW_COUNT = 5

/** What a service that keeps its recipients as objects would have at hand. */
function toObjects({ coords, phones, phoneOffsets }: Shard, [start, end]: Uint32Array): Row[] {
  const decoder = new TextDecoder()
  return Array.from({ length: end - start }, (_, rank) => {
    const at = start + rank
    return {
      Number: decoder.decode(phones.subarray(phoneOffsets[at], phoneOffsets[at + 1])),
      LatLng: {
        Lat: coords[2 * at + 1] / UNITS_PER_DEGREE,
        Lng: coords[2 * at] / UNITS_PER_DEGREE,
      },
    }
  })
}

function assertSameText(
  shard: Shard,
  chunks: readonly Uint32Array[],
  objects: readonly (readonly Row[])[],
): void {
  for (const [at, runs] of chunks.entries()) {
    const encoded = encodedText(shard, runs)
    // Not `equal`: its message would show the rows.
    assert(`[${encoded.slice(1)}]` === JSON.stringify(objects[at]), `chunk ${at} differs`)
  }
}

function encodedText(shard: Shard, runs: Uint32Array): string {
  const { byteCount } = encodeRows(shard, runs, { kind: 'json' }, room)
  return Buffer.from(room.subarray(0, byteCount)).toString()
}

const room = new Uint8Array(new SharedArrayBuffer(limits.rowBufferBytes))

function encodedBytes(shard: Shard, chunks: readonly Uint32Array[], format: RowFormat): number {
  let byteCount = 0
  for (const runs of chunks) byteCount += encodeRows(shard, runs, format, room).byteCount
  return byteCount
}

function nanos({ minMs, medianMs, p10Ms, p90Ms }: Timing, rowCount: number): string[] {
  return [minMs, medianMs, p10Ms, p90Ms].map((passMs) => formatFigure((1e6 * passMs) / rowCount))
}

function countedBytes(shard: Shard, chunks: readonly Uint32Array[], format: RowFormat): number {
  let byteCount = 0
  for (const runs of chunks) byteCount += rowBytes(shard, runs, format)
  return byteCount
}
