/**
 * Finds equal texts. A Map ends at 2^24 entries and costs an object for each, so this is an
 * open-addressing table over the bytes of a column, in one typed array.
 *
 * @module
 */
import type { TextColumn } from './text-column.js'

const FIRST_SLOT_COUNT = 1 << 12

/** Items of the table for each slot: the hash of a text, and its index plus one (0: free). */
const SLOT_ITEMS = 2

export class Interner {
  readonly #text: TextColumn
  #slots = new Uint32Array(FIRST_SLOT_COUNT * SLOT_ITEMS)
  #slotCount = FIRST_SLOT_COUNT
  #usedCount = 0

  constructor(text: TextColumn) {
    this.#text = text
  }

  /**
   * Returns the first text asked for that has the same bytes as text `index` of the column:
   * `index` itself if there was none, and then it is remembered.
   */
  firstEqual(index: number): number {
    const { bytes, offsets } = this.#text
    const start = offsets[index]
    const end = offsets[index + 1]
    const hash = hashBytes(bytes, start, end)
    const slots = this.#slots
    const mask = this.#slotCount - 1
    let slot = hash & mask
    for (; slots[slot * SLOT_ITEMS + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[slot * SLOT_ITEMS] !== hash) continue
      const known = slots[slot * SLOT_ITEMS + 1] - 1
      if (equalBytes(bytes, offsets[known], offsets[known + 1], start, end)) return known
    }
    slots[slot * SLOT_ITEMS] = hash
    slots[slot * SLOT_ITEMS + 1] = index + 1
    this.#usedCount++
    if (this.#usedCount * 4 > this.#slotCount * 3) this.#double()
    return index
  }

  #double(): void {
    const old = this.#slots
    this.#slotCount *= 2
    const slots = new Uint32Array(this.#slotCount * SLOT_ITEMS)
    const mask = this.#slotCount - 1
    for (let item = 0; item < old.length; item += SLOT_ITEMS) {
      if (old[item + 1] === 0) continue
      let slot = old[item] & mask
      while (slots[slot * SLOT_ITEMS + 1] !== 0) slot = (slot + 1) & mask
      slots[slot * SLOT_ITEMS] = old[item]
      slots[slot * SLOT_ITEMS + 1] = old[item + 1]
    }
    this.#slots = slots
  }
}

/** FNV-1a, then the last steps of MurmurHash3: numbers in a row differ in their last bits only. */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function equalBytes(
  bytes: Uint8Array,
  leftStart: number,
  leftEnd: number,
  rightStart: number,
  rightEnd: number,
): boolean {
  if (leftEnd - leftStart !== rightEnd - rightStart) return false
  for (let left = leftStart, right = rightStart; left < leftEnd; left++, right++) {
    if (bytes[left] !== bytes[right]) return false
  }
  return true
}
