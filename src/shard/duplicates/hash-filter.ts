/**
 * A table of hashes with two bits a slot: whether a hash fell there, and whether another did. It rules
 * out most phones that do not repeat. Several threads may fill it at the same time.
 *
 * @module
 */

/** In shared memory, for that many hashes. */
export function createSlots(hashCount: number): Uint32Array {
  const wanted = Math.ceil(Math.log2(SLOTS_PER_HASH * Math.max(1, hashCount)))
  const bitCount = Math.min(SLOT_BITS_MAX, Math.max(SLOT_BITS_MIN, wanted))
  return new Uint32Array(new SharedArrayBuffer(4 * (2 ** bitCount / SLOTS_PER_WORD)))
}

/** Returns how many of the hashes fell where one was before. */
export function fillSlots(slots: Uint32Array, hashes: Uint32Array): number {
  const shift = slotShift(slots)
  let sharedCount = 0
  for (let start = 0; start < hashes.length; start += BLOCK_COUNT) {
    const end = Math.min(start + BLOCK_COUNT, hashes.length)
    // Atomic operations wait for memory one after the other; these reads of the same do so together.
    for (let i = start; i < end; i++) seen[i - start] = slots[(hashes[i] >>> shift) >>> 4]
    for (let i = start; i < end; i++) {
      const slot = hashes[i] >>> shift
      const bit = 2 * (slot & 15)
      const before = (Atomics.or(slots, slot >>> 4, 1 << bit) >>> bit) & 1
      if (before === 0) continue
      Atomics.or(slots, slot >>> 4, 2 << bit)
      sharedCount++
    }
  }
  return sharedCount
}

/** @param shift  of `slotShift` */
export function isShared(slots: Uint32Array, hash: number, shift: number): boolean {
  const slot = hash >>> shift
  return ((slots[slot >>> 4] >>> (2 * (slot & 15))) & 2) !== 0
}

/** A slot is what is left of a hash when so many of its low bits are cut off. */
export function slotShift(slots: Uint32Array): number {
  // A power of two: its leading zeros and one bit are what is not in the index of a word.
  return Math.clz32(slots.length) + 1 - Math.log2(SLOTS_PER_WORD)
}

const SLOTS_PER_WORD = 16
const BLOCK_COUNT = 256
/** Only written. */
const seen = new Uint32Array(BLOCK_COUNT)
/** With so many, one phone in ten falls by chance where another is, at most. */
const SLOTS_PER_HASH = 8
const SLOT_BITS_MIN = 10
/** 256 MiB. */
const SLOT_BITS_MAX = 30
