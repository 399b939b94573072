/**
 * Phones with an id each, and whether they came again. The phones lie in the table itself, so that
 * a look at one is a look at one line of the cache.
 *
 *   0 hash   1 id and one, with the highest bit set if it came again   2 to 7 bytes of the phone
 *
 * @module
 */

/** Words of the bytes of a phone, in little-endian order, filled up with 0: no phone holds that byte. */
export const PHONE_WORDS = 6
/** A hash, something else, and a phone: in the table and in what is looked up. */
export const RECORD_WORDS = 2 + PHONE_WORDS

export class PhoneTable {
  #slots = new Uint32Array(RECORD_WORDS * 256)
  #count = 0

  /**
   * The id of a phone, which is new unless it came before.
   *
   * @param at  where its record begins: its hash, then anything, then the phone
   */
  idOf(records: Uint32Array, at: number, newId: number): number {
    const slots = this.#slots
    const slot = find(slots, records, at)
    const known = slots[slot + ID]
    if (known !== 0) {
      slots[slot + ID] = known | AGAIN
      return (known & ~AGAIN) - 1
    }
    for (let word = 0; word < RECORD_WORDS; word++) slots[slot + word] = records[at + word]
    slots[slot + ID] = newId + 1
    if (++this.#count * RECORD_WORDS > LOAD_MAX * slots.length) this.#grow()
    return newId
  }

  /** Sets the entries to 1 whose phones came again, by id. */
  noteAgain(cameAgain: Uint8Array): void {
    for (let slot = 0; slot < this.#slots.length; slot += RECORD_WORDS) {
      const known = this.#slots[slot + ID]
      if (known >>> 31 === 1) cameAgain[(known & ~AGAIN) - 1] = 1
    }
  }

  #grow(): void {
    const old = this.#slots
    const grown = new Uint32Array(2 * old.length)
    for (let from = 0; from < old.length; from += RECORD_WORDS) {
      if (old[from + ID] === 0) continue
      const slot = find(grown, old, from)
      for (let word = 0; word < RECORD_WORDS; word++) grown[slot + word] = old[from + word]
    }
    this.#slots = grown
  }
}

const HASH = 0
const ID = 1
const PHONE = 2
const AGAIN = 1 << 31
const LOAD_MAX = 0.7
const PRIME = 0xc2b2ae3d

/** The slot of a number, or a free one for it; the number of slots is a power of two. */
function find(slots: Uint32Array, records: Uint32Array, at: number): number {
  const hash = records[at + HASH]
  const shift = Math.clz32(slots.length / RECORD_WORDS - 1)
  const last = slots.length - RECORD_WORDS
  let slot = RECORD_WORDS * (Math.imul(hash, PRIME) >>> shift)
  while (slots[slot + ID] !== 0) {
    if (slots[slot + HASH] === hash && isSame(slots, slot, records, at)) return slot
    slot = slot === last ? 0 : slot + RECORD_WORDS
  }
  return slot
}

function isSame(slots: Uint32Array, slot: number, records: Uint32Array, at: number): boolean {
  for (let word = PHONE; word < RECORD_WORDS; word++) {
    if (slots[slot + word] !== records[at + word]) return false
  }
  return true
}
