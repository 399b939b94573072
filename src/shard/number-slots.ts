/**
 * A table into which hashes fall, with two bits a slot: whether one fell there, and whether another did.
 * It tells of most numbers that they do not repeat.
 *
 * @module
 */

export class NumberSlots {
  readonly #words: Uint32Array
  /** A slot is what is left of a hash when so many of its low bits are cut off. */
  readonly #shift: number
  /** Hashes that fell where one was before. */
  sharedCount = 0

  constructor(numberCount: number) {
    const wanted = Math.ceil(Math.log2(SLOTS_PER_NUMBER * Math.max(1, numberCount)))
    const bitCount = Math.min(SLOT_BITS_MAX, Math.max(SLOT_BITS_MIN, wanted))
    this.#shift = 32 - bitCount
    this.#words = new Uint32Array(2 ** bitCount / SLOTS_PER_WORD)
  }

  addAll(hashes: Uint32Array): void {
    const words = this.#words
    const shift = this.#shift
    let sharedCount = 0
    for (let i = 0; i < hashes.length; i++) {
      const slot = hashes[i] >>> shift
      const word = words[slot >>> 4]
      const bit = 2 * (slot & 15)
      const before = (word >>> bit) & 1
      sharedCount += before
      words[slot >>> 4] = word | ((1 + before) << bit)
    }
    this.sharedCount += sharedCount
  }

  /** Whether another hash fell into the slot of this one. */
  isShared(hash: number): boolean {
    const slot = hash >>> this.#shift
    return ((this.#words[slot >>> 4] >>> (2 * (slot & 15))) & 2) !== 0
  }
}

const SLOTS_PER_WORD = 16
/** With so many, one number in ten falls by chance where another is, at most. */
const SLOTS_PER_NUMBER = 8
const SLOT_BITS_MIN = 10
/** 256 MiB. */
const SLOT_BITS_MAX = 30
