/**
 * The keys of the rows taken so far: an open-addressing table over their bytes, which lie end to end
 * in pages. A Set of strings ends at 2^24 and costs an object for each.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { hashBytes } from '../../shard/hash-bytes.js'

const FIRST_SLOT_COUNT = 1 << 12
/** Items of the table for each slot: hash, length (0: free), place in a page and the page. */
const SLOT_ITEMS = 4
const PAGE_BYTES = 1 << 24
/** A page grows to its size: most imports have few keys. */
const FIRST_PAGE_BYTES = 1 << 16
/** A typed array has at most 2^33 items, and three quarters of the slots may be used. */
const SLOT_COUNT_MAX = 2 ** 30

/** A place among the keys, in the order in which they were added. */
interface KeyMark {
  readonly page: number
  readonly end: number
}

export class KeySet {
  #slots = new Uint32Array(FIRST_SLOT_COUNT * SLOT_ITEMS)
  #slotCount = FIRST_SLOT_COUNT
  #usedCount = 0
  /** The first comes with the first key: most imports have none. */
  readonly #pages: Uint8Array[] = []
  /** Of the keys in the last page. */
  #pageEnd = PAGE_BYTES

  /** Whether these bytes, at least one, were not there before; then they are from now on. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    const hash = hashBytes(bytes, start, end) >>> 0
    const slots = this.#slots
    const mask = this.#slotCount - 1
    let slot = hash & mask
    for (; slots[slot * SLOT_ITEMS + 1] !== 0; slot = (slot + 1) & mask) {
      const item = slot * SLOT_ITEMS
      if (slots[item] !== hash || slots[item + 1] !== end - start) continue
      if (equalBytes(this.#pages[slots[item + 3]], slots[item + 2], bytes, start, end)) return false
    }
    this.#put(slot * SLOT_ITEMS, hash, bytes, start, end)
    if (this.#usedCount * 4 > this.#slotCount * 3) this.#double()
    return true
  }

  /** Where keys that are added from now on will lie. */
  mark(): KeyMark {
    return { page: this.#pages.length - 1, end: this.#pageEnd }
  }

  /** Forgets the keys that were added after the mark. */
  truncate({ page, end }: KeyMark): void {
    this.#pages.splice(page + 1)
    this.#pageEnd = end
    this.#rebuild((slots, item) => {
      const keyPage = slots[item + 3]
      return keyPage < page || (keyPage === page && slots[item + 2] < end)
    })
  }

  #put(item: number, hash: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#pageEnd + end - start > PAGE_BYTES) {
      this.#pages.push(new Uint8Array(FIRST_PAGE_BYTES))
      this.#pageEnd = 0
    }
    const page = this.#pages.length - 1
    const keyEnd = this.#pageEnd + end - start
    while (this.#pages[page].length < keyEnd) this.#pages[page] = twice(this.#pages[page])
    this.#pages[page].set(bytes.subarray(start, end), this.#pageEnd)
    this.#slots.set([hash, end - start, this.#pageEnd, page], item)
    this.#pageEnd = keyEnd
    this.#usedCount++
  }

  #double(): void {
    if (this.#slotCount === SLOT_COUNT_MAX) {
      throw new OperatorError('InputRejected', 'too many keys: import it as several sources')
    }
    this.#slotCount *= 2
    this.#rebuild(() => true)
  }

  /** Puts the keys that are kept into a new table. */
  #rebuild(isKept: (slots: Uint32Array, item: number) => boolean): void {
    const old = this.#slots
    const slots = new Uint32Array(this.#slotCount * SLOT_ITEMS)
    const mask = this.#slotCount - 1
    let usedCount = 0
    for (let item = 0; item < old.length; item += SLOT_ITEMS) {
      if (old[item + 1] === 0 || !isKept(old, item)) continue
      let slot = old[item] & mask
      while (slots[slot * SLOT_ITEMS + 1] !== 0) slot = (slot + 1) & mask
      for (let at = 0; at < SLOT_ITEMS; at++) slots[slot * SLOT_ITEMS + at] = old[item + at]
      usedCount++
    }
    this.#slots = slots
    this.#usedCount = usedCount
  }
}

function twice(page: Uint8Array): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(2 * page.length)
  grown.set(page)
  return grown
}

function equalBytes(
  page: Uint8Array,
  pageStart: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  for (let known = pageStart, at = start; at < end; known++, at++) {
    if (page[known] !== bytes[at]) return false
  }
  return true
}
