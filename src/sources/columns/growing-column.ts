/**
 * Columns that grow.
 *
 * @module
 */

/** Bytes by which a shared column grows at least. */
const GROWTH_BYTES = 1 << 24

type Items = Int32Array | Uint32Array | Uint8Array
type ItemsType<T extends Items> = {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: SharedArrayBuffer, byteOffset: number, length: number): T
}

/**
 * Grows in shared memory without ever being copied: the addresses for all that it may hold are
 * reserved at first, and the system gives the memory as it is written to.
 */
export class SharedColumn<T extends Items> {
  readonly #Type: ItemsType<T>
  readonly #buffer: SharedArrayBuffer
  /** Of a fixed length: loops over one that follows its buffer are slower. */
  #items: T
  /** May be set to less, and what is behind is forgotten. */
  length = 0

  /** @param lengthMax  what `extend` never goes beyond */
  constructor(Type: ItemsType<T>, lengthMax: number) {
    this.#Type = Type
    this.#buffer = new SharedArrayBuffer(0, { maxByteLength: lengthMax * Type.BYTES_PER_ELEMENT })
    this.#items = new Type(this.#buffer, 0, 0)
  }

  /** Makes room for more items behind those that are there, and returns that room. */
  extend(itemCount: number): T {
    const start = this.length
    this.length += itemCount
    if (this.length > this.#items.length) this.#grow()
    return this.#items.subarray(start, this.length) as T
  }

  /** The values so far. */
  finish(): T {
    return this.#items.subarray(0, this.length) as T
  }

  #grow(): void {
    const itemBytes = this.#Type.BYTES_PER_ELEMENT
    const neededBytes = this.length * itemBytes
    const grownBytes = Math.ceil(neededBytes / GROWTH_BYTES) * GROWTH_BYTES
    this.#buffer.grow(Math.min(grownBytes, this.#buffer.maxByteLength))
    this.#items = new this.#Type(this.#buffer, 0, this.#buffer.byteLength / itemBytes)
  }
}

/** A copy of `array` with room for at least `length` items, and for as many again to come. */
export function grow<T extends Items>(array: T, length: number): T {
  const Type = array.constructor as new (length: number) => T
  const grown = new Type(Math.max(length, Math.min(array.length * 2, 2 ** 32)))
  grown.set(array)
  return grown
}
