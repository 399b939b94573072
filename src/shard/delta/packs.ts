/**
 * Packs: small indexes over the recipients of a delta, which lie in the order in which they came. Each is
 * a shard of positions alone, in kd order, and knows the place of each of its recipients in the delta.
 *
 * @module
 */
import { type Budget, charge, RUN_COST } from '../budget.js'
import { buildShard } from '../build/build.js'
import { attachShard, type Box, type Pack, type Shard, type ShardImage } from '../layout.js'
import type { RunList } from '../runs.js'
import { hasMarks, isMarked } from '../suppressed.js'

/** As it crosses threads. */
export interface PackImage {
  readonly shard: ShardImage
  /** The place in the delta of the first of its recipients, who follow one another there. */
  readonly firstPlace: number
}

/**
 * Packs the recipients of a delta from one place to another.
 *
 * @param coords  of the delta: longitude and latitude in turn, in units of 1e-7 degree
 * @param end  behind the last one, above `start`
 */
export function buildPack(
  sourceId: number,
  coords: Int32Array,
  start: number,
  end: number,
): PackImage {
  const count = end - start
  const columns = {
    recipientCount: count,
    lngs: Int32Array.from({ length: count }, (_, row) => coords[2 * (start + row)]),
    lats: Int32Array.from({ length: count }, (_, row) => coords[2 * (start + row) + 1]),
    contacts: new Uint32Array(count),
    contactCount: 1,
    phoneOffsets: new Uint32Array(count + 1),
    phones: new Uint8Array(0),
  }
  const rows = Uint32Array.from({ length: count }, (_, row) => row)
  return { shard: buildShard(columns, rows, sourceId, 0), firstPlace: start }
}

export function attachPack({ shard: image, firstPlace }: PackImage): Pack {
  const shard = attachShard(image)
  return {
    shard,
    coords: shard.coords,
    places: Uint32Array.from(shard.ids, (rank) => firstPlace + rank),
    endPlace: firstPlace + shard.recipientCount,
  }
}

/** Around all of them. */
export function boxOf(packs: readonly { readonly shard: { readonly box: Box } }[]): Box {
  const boxes = packs.map(({ shard }) => shard.box)
  return {
    minLng: Math.min(...boxes.map(({ minLng }) => minLng)),
    minLat: Math.min(...boxes.map(({ minLat }) => minLat)),
    maxLng: Math.max(...boxes.map(({ maxLng }) => maxLng)),
    maxLat: Math.max(...boxes.map(({ maxLat }) => maxLat)),
  }
}

/**
 * Counts recipients in packs who are neither beyond the mask of their delta nor marked. They need no order,
 * unlike those of `selectInPacks`.
 *
 * @param findIn  counts those of one pack, and appends them to `scratch` unless it is given null
 */
export function countInPacks(
  packs: readonly Pack[],
  { mask, marks, recipientCount }: Pick<Shard, 'mask' | 'marks' | 'recipientCount'>,
  findIn: (shard: Shard, runs: RunList | null) => number,
  scratch: RunList,
  budget: Budget,
): number {
  const present = mask === null ? null : membersOf(mask, recipientCount)
  const hidden = hasMarks(marks) ? marks : null
  let count = 0
  for (const { shard, places } of packs) {
    if (present === null && hidden === null) {
      count += findIn(shard, null)
      continue
    }
    scratch.clear()
    charge(budget, RUN_COST * findIn(shard, scratch))
    const { pairs, runCount } = scratch
    for (let i = 0; i < 2 * runCount; i += 2) {
      const end = pairs[i + 1]
      for (let index = pairs[i]; index < end; index++) {
        const place = places[index]
        if (present !== null && ((present[place >>> 5] >>> (place & 31)) & 1) === 0) continue
        if (hidden === null || !isMarked(hidden, place)) count++
      }
    }
  }
  return count
}

/** The recipients in a mask, as a bit for each. */
function membersOf(mask: Uint32Array, recipientCount: number): Uint32Array {
  const known = knownMembers.get(mask)
  if (known !== undefined) return known
  const members = new Uint32Array(Math.ceil(recipientCount / 32))
  for (let i = 0; i < mask.length; i += 2) {
    const end = mask[i + 1]
    for (let place = mask[i]; place < end; place++) members[place >>> 5] |= 1 << (place & 31)
  }
  knownMembers.set(mask, members)
  return members
}

const knownMembers = new WeakMap<Uint32Array, Uint32Array>()

/**
 * The places of recipients in packs, as runs.
 *
 * @param selectIn  leaves those of one pack in a list, `scratch`
 */
export function selectInPacks(
  packs: readonly Pack[],
  into: RunList,
  budget: Budget,
  selectIn: (shard: Shard) => void,
  scratch: RunList,
): void {
  let count = 0
  for (const { shard, places } of packs) {
    selectIn(shard)
    const { pairs, runCount } = scratch
    for (let i = 0; i < 2 * runCount; i += 2) {
      const start = pairs[i]
      const end = pairs[i + 1]
      charge(budget, RUN_COST * (end - start))
      if (count + end - start > found.length) found = grown(found, count + end - start)
      for (let index = start; index < end; index++) found[count++] = places[index]
    }
  }
  const sorted = found.subarray(0, count).sort()
  into.clear()
  for (let at = 0; at < count; at++) into.append(sorted[at], sorted[at] + 1)
}

let found = new Uint32Array(1_024)

function grown(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * length)
  larger.set(array)
  return larger
}
