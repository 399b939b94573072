/**
 * A column that grows: numbers one behind the other, in memory that is twice as large each time there is no
 * room for more.
 *
 * @module
 */

type Column = Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

class Growing<Kind extends Column> {
  readonly #create: (length: number) => Kind
  #items: Kind
  length = 0

  /** @param create  a column of zeros */
  constructor(create: (length: number) => Kind) {
    this.#create = create
    this.#items = create(FIRST_LENGTH)
  }

  push(item: number): void {
    this.#ensure(this.length + 1)
    this.#items[this.length++] = item
  }

  append(items: ArrayLike<number>): void {
    this.#ensure(this.length + items.length)
    this.#items.set(items, this.length)
    this.length += items.length
  }

  /** What is there now, without a copy; what comes later does not change it. */
  view(start = 0): Kind {
    return this.#items.subarray(start, this.length) as Kind
  }

  #ensure(length: number): void {
    if (length <= this.#items.length) return
    const larger = this.#create(Math.max(length, 2 * this.#items.length))
    larger.set(this.#items.subarray(0, this.length))
    this.#items = larger
  }
}

export function growingWords(): Growing<Uint32Array<ArrayBuffer>> {
  return new Growing((length) => new Uint32Array(length))
}

export function growingUnits(): Growing<Int32Array<ArrayBuffer>> {
  return new Growing((length) => new Int32Array(length))
}

export function growingBytes(): Growing<Uint8Array<ArrayBuffer>> {
  return new Growing((length) => new Uint8Array(length))
}

const FIRST_LENGTH = 64
