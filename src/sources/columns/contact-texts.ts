/**
 * Finds, for each recipient, the first one with the same contact: the same contact text, or no
 * contact text and the same phone. The work is cut so that threads share it:
 *
 *   1. `hashTexts`   hashes a range of recipients, and counts them by the bin of their hash
 *   2. `binTexts`    puts the recipients of a range into their bins, in order
 *   3. `findFirsts`  looks up those of a range of bins, each in a table that stays in the cache
 *
 * @module
 */
import { hashBytes } from '../../shard/hash-bytes.js'

/** All in shared memory. */
export interface ContactTexts {
  readonly recipientCount: number
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
  readonly contactOffsets: Uint32Array
  readonly contactTexts: Uint8Array
  /** Of the upper bits of a hash: 2^binBits bins. */
  readonly binBits: number
  /** The hash of each recipient; in the end the first recipient that has its contact. */
  readonly firsts: Uint32Array
  /** Hash and recipient in turn, by bin. */
  readonly binned: Uint32Array
}

/** @returns how many recipients of [start, end) are in each bin */
export function hashTexts(texts: ContactTexts, start: number, end: number): Uint32Array {
  const { phoneOffsets, phones, contactOffsets, contactTexts, firsts: hashes } = texts
  const counts = new Uint32Array(2 ** texts.binBits)
  const shift = 32 - texts.binBits
  for (let row = start; row < end; row++) {
    const from = contactOffsets[row]
    const to = contactOffsets[row + 1]
    const hash =
      from < to
        ? hashBytes(contactTexts, from, to)
        : hashBytes(phones, phoneOffsets[row], phoneOffsets[row + 1], PHONE_SEED)
    hashes[row] = hash
    counts[hash >>> shift]++
  }
  return counts
}

/** @param positions  where the first recipient of [start, end) goes, of each bin; is used up */
export function binTexts(
  texts: ContactTexts,
  start: number,
  end: number,
  positions: Uint32Array,
): void {
  const { firsts: hashes, binned } = texts
  const shift = 32 - texts.binBits
  for (let row = start; row < end; row++) {
    const hash = hashes[row]
    const at = PAIR * positions[hash >>> shift]++
    binned[at] = hash
    binned[at + 1] = row
  }
}

/** @param bins  the bounds of bins that follow each other, among the binned recipients */
export function findFirsts(texts: ContactTexts, bins: Uint32Array): void {
  for (let bin = 0; bin + 1 < bins.length; bin++) findFirstsOfBin(texts, bins[bin], bins[bin + 1])
}

const PAIR = 2
const FIRST_SLOT_COUNT = 1 << 12
/** Another one than for contacts: a phone and a contact are never the same. */
const PHONE_SEED = 0x4f1bbcdc

/** One table for all bins of a thread; a slot is a hash and a recipient plus one (0: free). */
let slots = new Uint32Array(PAIR * FIRST_SLOT_COUNT)

function findFirstsOfBin(texts: ContactTexts, start: number, end: number): void {
  const { binned, firsts } = texts
  slots.fill(0)
  let mask = slots.length / PAIR - 1
  let freeCount = (mask + 1) >>> 1
  for (let at = PAIR * start; at < PAIR * end; at += PAIR) {
    const hash = binned[at]
    const row = binned[at + 1]
    let slot = hash & mask
    let known = slots[PAIR * slot + 1]
    while (known !== 0 && !(slots[PAIR * slot] === hash && areSame(texts, known - 1, row))) {
      slot = (slot + 1) & mask
      known = slots[PAIR * slot + 1]
    }
    if (known !== 0) {
      firsts[row] = known - 1
      continue
    }
    firsts[row] = row
    slots[PAIR * slot] = hash
    slots[PAIR * slot + 1] = row + 1
    if (--freeCount === 0) {
      doubleSlots()
      mask = slots.length / PAIR - 1
      freeCount = (mask + 1) >>> 2
    }
  }
}

function doubleSlots(): void {
  const old = slots
  slots = new Uint32Array(2 * old.length)
  const mask = slots.length / PAIR - 1
  for (let at = 0; at < old.length; at += PAIR) {
    if (old[at + 1] === 0) continue
    let slot = old[at] & mask
    while (slots[PAIR * slot + 1] !== 0) slot = (slot + 1) & mask
    slots[PAIR * slot] = old[at]
    slots[PAIR * slot + 1] = old[at + 1]
  }
}

function areSame(texts: ContactTexts, left: number, right: number): boolean {
  const { phoneOffsets, phones, contactOffsets, contactTexts } = texts
  const hasContact = contactOffsets[left] < contactOffsets[left + 1]
  if (hasContact !== contactOffsets[right] < contactOffsets[right + 1]) return false
  return hasContact
    ? areEqual(contactTexts, contactOffsets, left, right)
    : areEqual(phones, phoneOffsets, left, right)
}

function areEqual(bytes: Uint8Array, offsets: Uint32Array, left: number, right: number): boolean {
  const leftEnd = offsets[left + 1]
  let leftAt = offsets[left]
  let rightAt = offsets[right]
  if (leftEnd - leftAt !== offsets[right + 1] - rightAt) return false
  while (leftAt < leftEnd) if (bytes[leftAt++] !== bytes[rightAt++]) return false
  return true
}
