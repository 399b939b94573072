/**
 * A delta: the recipients of one source that came after its snapshot, as a shard. They lie in the order in
 * which they came, and so a place in it stays the same while others come; packs find who is in a shape.
 * Whoever was there only before or after the moment of a view is beyond its mask.
 *
 * @module
 */
import type { Pack, Shard } from '../layout.js'
import type { Marks } from '../suppressed.js'
import { boxOf } from './packs.js'

/** Columns in the order in which recipients came; more may have come since. */
interface DeltaColumns {
  /** Longitude and latitude in turn, in units of 1e-7 degree. */
  readonly coords: Int32Array
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
  /** What each shares with others, new or not (ties/extend-ties.ts). */
  readonly contactIds: Uint32Array
  readonly phoneIds: Uint32Array
  readonly marks: Marks | null
}

interface Bounds {
  readonly recipientCount: number
  /** Above all ids of contacts of the source, and of phones. */
  readonly contactIdEnd: number
  readonly phoneIdEnd: number
}

/**
 * @param packs  with all recipients among them
 * @param mask  who is there, as runs; null where everybody is
 */
export function deltaShard(
  sourceId: number,
  columns: DeltaColumns,
  { recipientCount, contactIdEnd, phoneIdEnd }: Bounds,
  packs: readonly Pack[],
  mask: Uint32Array | null,
): Shard {
  const { coords, phoneOffsets, phones, contactIds, phoneIds, marks } = columns
  const tied = (ids: Uint32Array, idEnd: number) => {
    return { set: null, isInArena: false, ids: ids.subarray(0, recipientCount), idEnd }
  }
  return {
    sourceId,
    recipientCount,
    contactCount: 0,
    box: boxOf(packs),
    // It is no index, and was never imported.
    nodeSize: 0,
    ids: NO_IDS,
    coords: coords.subarray(0, 2 * recipientCount),
    contacts: contactIds.subarray(0, recipientCount),
    phoneOffsets: phoneOffsets.subarray(0, recipientCount + 1),
    phones,
    arena: null,
    marks,
    mask,
    contactTies: tied(contactIds, contactIdEnd),
    phoneTies: tied(phoneIds, phoneIdEnd),
    packs,
  }
}

const NO_IDS = new Uint32Array(0)
