/**
 * How fast do recipients become bytes, chunk by chunk as the service sends them?
 *
 * @module
 */
import assert from 'node:assert/strict'
import { csvRowPrefix } from '../../src/format/recipients.js'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import { limits } from '../../src/limits.js'
import type { Shard } from '../../src/shard/layout.js'
import { encodeRows, type RowFormat } from '../../src/shard/rows.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { fullPlan, measure, type Timing } from './harness/measure.js'
import type { Question } from './harness/stage.js'

const ROW_COUNT_MAX = 400_000

export const encode: Question = async ({ world }) => {
  const [shard] = world.shards
  const chunks = chunksOf(shard)
  const rowCount = Math.min(ROW_COUNT_MAX, shard.recipientCount)
  const objects = chunks.map((runs) => toObjects(shard, runs))
  assertSameText(shard, chunks, objects)

  const ways = {
    'encodeRows, JSON': () => encodedBytes(shard, chunks, { kind: 'json' }),
    'encodeRows, CSV': () =>
      encodedBytes(shard, chunks, { kind: 'csv', prefix: csvRowPrefix(1, 'Residents') }),
    'encodeRows, JSV': () => encodedBytes(shard, chunks, { kind: 'jsv' }),
    'naive: Buffer.from(JSON.stringify(objects))': () =>
      objects.reduce((sum, rows) => sum + Buffer.from(JSON.stringify(rows)).length, 0),
  }
  const measured = Object.entries(ways).map(([name, pass]) => ({
    name,
    byteCount: pass(),
    timing: measure(pass, fullPlan),
  }))
  const naive = measured[measured.length - 1].timing
  const table = {
    title:
      `encoding: ${formatCount(rowCount)} rows in chunks of ` +
      `${formatCount(limits.rowsPerChunkCount)}, JSON equal to the byte`,
    header: ['ns a row', 'min', 'median', 'p10', 'p90', 'passes', 'rows/s', 'MB/s', 'to naive'],
    rows: measured.map(({ name, timing, byteCount }) => [
      name,
      ...nanos(timing, rowCount),
      String(timing.repetitionCount),
      formatCount((1000 * rowCount) / timing.medianMs),
      formatCount(byteCount / 1000 / timing.medianMs),
      `${formatFigure(naive.medianMs / timing.medianMs)}×`,
    ]),
  }
  const measuredWays = measured.map(({ name, timing }) => ({ name, itemCount: rowCount, timing }))
  return [{ table, ways: measuredWays, notes: [] }]
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
