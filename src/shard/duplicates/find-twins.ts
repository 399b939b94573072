/**
 * Finds the recipients whose phones have the same hashes, bin by bin: in a table that stays in the cache
 * of a core. Several threads may do so at the same time, each with other bins.
 *
 * @module
 */
import { type DealtPhones, ENTRY_WORDS } from './deal-phones.js'

/** Bins in which twins are looked for. */
export interface TwinSearch {
  /** The phones of each shard. */
  readonly dealt: readonly DealtPhones[]
  /** A bit for each recipient of each shard, set for those that have a twin. In shared memory. */
  readonly twins: readonly Int32Array[]
  readonly indexBits: number
  /** The bins [firstBin, endBin) of those that were dealt. */
  readonly firstBin: number
  readonly endBin: number
}

/** Sets the bits of all recipients that have a twin; returns how many that are. */
export function findTwins(search: TwinSearch): number {
  let twinCount = 0
  for (let bin = search.firstBin; bin < search.endBin; bin++) twinCount += findInBin(search, bin)
  return twinCount
}

function findInBin({ dealt, twins, indexBits }: TwinSearch, bin: number): number {
  const indexMask = 2 ** indexBits - 1
  let mask = FIRST_SLOT_COUNT - 1
  let knownCount = 0
  let twinCount = 0
  slots.fill(0, 0, FIRST_SLOT_COUNT)
  for (let shard = 0; shard < dealt.length; shard++) {
    const { entries, starts } = dealt[shard]
    const end = ENTRY_WORDS * starts[bin + 1]
    for (let at = ENTRY_WORDS * starts[bin]; at < end; at += ENTRY_WORDS) {
      const hash = entries[at]
      const other = entries[at + 1]
      let slot = hash & mask
      let known = slots[slot]
      while (known !== 0 && !isKnown(KNOWN_WORDS * (known - 1), hash, other, indexBits)) {
        slot = (slot + 1) & mask
        known = slots[slot]
      }
      if (known !== 0) {
        const first = KNOWN_WORDS * (known - 1)
        twinCount += setBit(twins[shard], other & indexMask)
        twinCount += setBit(twins[knowns[first + SHARD]], knowns[first + OTHER] & indexMask)
        continue
      }
      const next = KNOWN_WORDS * knownCount++
      knowns[next] = hash
      knowns[next + OTHER] = other
      knowns[next + SHARD] = shard
      slots[slot] = knownCount
      if (2 * knownCount > mask) mask = doubleSlots(knownCount, mask)
    }
  }
  return twinCount
}

/** Twice what a bin has as a rule, and more. */
const FIRST_SLOT_COUNT = 1 << 15
/** The number of a known phone, from 1; 0 if the slot is free. */
let slots = new Uint32Array(FIRST_SLOT_COUNT)
/** The phones that came first: both words of their entry, and the shard. */
let knowns = new Uint32Array((FIRST_SLOT_COUNT / 2) * 3)
const KNOWN_WORDS = 3
const OTHER = 1
const SHARD = 2

function isKnown(at: number, hash: number, other: number, indexBits: number): boolean {
  return knowns[at] === hash && (knowns[at + OTHER] ^ other) >>> indexBits === 0
}

/** Returns the mask of twice as many slots, with the same phones. */
function doubleSlots(knownCount: number, oldMask: number): number {
  const slotCount = 2 * (oldMask + 1)
  if (slotCount > slots.length) {
    slots = new Uint32Array(slotCount)
    const old = knowns
    knowns = new Uint32Array((slotCount / 2) * KNOWN_WORDS)
    knowns.set(old)
  } else slots.fill(0, 0, slotCount)
  const mask = slotCount - 1
  for (let known = 0; known < knownCount; known++) {
    let slot = knowns[KNOWN_WORDS * known] & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = known + 1
  }
  return mask
}

/** Returns 1 if it was not set. Other threads may set other bits of the word. */
function setBit(bits: Int32Array, index: number): number {
  const before = Atomics.or(bits, index >>> 5, 1 << (index & 31))
  return 1 - ((before >>> (index & 31)) & 1)
}
