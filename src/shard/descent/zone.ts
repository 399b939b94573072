/**
 * A scratch zone as the kernel wants it: header, stack, buffer of runs, edges, lists of edges. The
 * last part of the zone is for rows (rows/zone-encoder.ts).
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { EdgeTable } from '../../geometry/polygon/edges.js'
import { limits } from '../../limits.js'
import * as at from './zone-header.js'

/**
 * Recipients of one shard, as a multiple of its node size, up to which the lists have room however
 * many edges matter.
 */
export const ZONE_NODE_COUNT = 2 ** 20

/** A range of this many recipients and one need not be split; see docs/decisions/0005-kernel.md. */
export const LEAF_RECIPIENT_COUNT = 128

/** Starts and ends of runs that fit in the buffer. */
const BOUND_COUNT = 16_384

export interface Zone {
  readonly table: EdgeTable
  readonly header: DataView
  /** Runs as the kernel leaves them. */
  readonly bounds: Uint32Array
  /** Entries of edges, and the address of the first. */
  readonly entries: Int32Array
  readonly entriesAt: number
}

/** Lays out the zone that starts at `start` and writes where everything is to its header. */
export function layOutZone(memory: SharedArrayBuffer, start: number): Zone {
  const header = new DataView(memory, start, at.HEADER_BYTES)
  let end = start + at.HEADER_BYTES
  const take = (byteLength: number, headerOffset?: number) => {
    const taken = end
    if (headerOffset !== undefined) header.setUint32(headerOffset, taken, true)
    // Columns a page apart would fall on the same lines of the cache.
    end += Math.ceil(byteLength / LINE_BYTES) * LINE_BYTES + COLUMN_GAP_BYTES
    return taken
  }
  const floats = (offset?: number) =>
    new Float64Array(memory, take(8 * limits.scratchEdgeCount, offset), limits.scratchEdgeCount)
  const wholes = (offset: number) =>
    new Int32Array(memory, take(4 * limits.scratchEdgeCount, offset), limits.scratchEdgeCount)
  take(at.STACK_FRAME_COUNT * at.FRAME_BYTES, at.STACK_AT)
  const bounds = new Uint32Array(memory, take(4 * BOUND_COUNT, at.BOUNDS_AT), BOUND_COUNT)
  take(at.PACKED_EDGE_BYTES * limits.scratchEdgeCount, at.PACKED_AT)
  const table: EdgeTable = {
    edgeCount: 0,
    bounds: new Float64Array(4),
    lowLngs: floats(at.LOW_LNGS),
    lowLats: floats(at.LOW_LATS),
    highLngs: floats(),
    highLats: floats(at.HIGH_LATS),
    lngSpans: floats(at.LNG_SPANS),
    latSpans: floats(at.LAT_SPANS),
    minLngs: floats(at.MIN_LNGS),
    maxLngs: floats(at.MAX_LNGS),
    slacks: floats(at.SLACKS),
    ringBits: wholes(at.RING_BITS),
    firstLats: wholes(at.FIRST_LATS),
    lastLats: wholes(at.LAST_LATS),
  }
  const entriesAt = take(4 * ENTRY_COUNT, at.LISTS_AT)
  const room = limits.scratchZoneBytes - limits.scratchRowBytes
  assert(end <= start + room, 'a zone holds all that it should')
  header.setInt32(at.BOUND_COUNT_MAX, BOUND_COUNT, true)
  return {
    table,
    header,
    bounds,
    entries: new Int32Array(memory, entriesAt, ENTRY_COUNT),
    entriesAt,
  }
}

const LINE_BYTES = 64
const COLUMN_GAP_BYTES = 5 * LINE_BYTES
/** Halvings of the largest shard until its ranges are not split any further. */
const LEVEL_COUNT = Math.log2(ZONE_NODE_COUNT)
/** The root has one list, and both halves of each cell on the way down have one. */
const ENTRY_COUNT = limits.scratchEdgeCount * (1 + 2 * LEVEL_COUNT)
