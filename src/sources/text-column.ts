/**
 * Many short texts, end to end in one growing array of bytes: no object per text.
 *
 * @module
 */
import { OperatorError } from '../errors.js'

/** Offsets are 32-bit, so the texts of one column take less than 4 GiB. */
const TEXT_BYTES_MAX = 2 ** 32 - 1

const FIRST_BYTES = 1 << 16
const FIRST_COUNT = 1 << 12

export class TextColumn {
  /** The texts; only the bytes before `offsets[count]` mean something. */
  bytes = new Uint8Array(FIRST_BYTES)
  /** Text `i` is at `[offsets[i], offsets[i + 1])`. */
  offsets = new Uint32Array(FIRST_COUNT)
  count = 0
  readonly #bytesMax: number

  constructor(bytesMax: number = TEXT_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Copies `[start, end)` of `source` in as the next text and returns its index. */
  append(source: Uint8Array, start: number, end: number): number {
    const index = this.count
    const from = this.offsets[index]
    const to = from + (end - start)
    if (to > this.#bytesMax) {
      throw new OperatorError(
        'InputRejected',
        `the texts of one source take more than ${this.#bytesMax} bytes: import it as several sources`,
      )
    }
    if (to > this.bytes.length) this.bytes = grow(this.bytes, to)
    if (index + 2 > this.offsets.length) this.offsets = grow(this.offsets, index + 2)
    const bytes = this.bytes
    // Texts are some 14 bytes long: a loop beats the call of set() and the view that it needs.
    for (let at = start, put = from; at < end; at++, put++) bytes[put] = source[at]
    this.offsets[index + 1] = to
    this.count = index + 1
    return index
  }

  /** Takes the last text away again. */
  removeLast(): void {
    this.count--
  }
}

/** A copy of `array` with room for at least `length` items, and for as many again to come. */
export function grow<T extends Uint8Array | Uint32Array | Int32Array>(array: T, length: number): T {
  const Type = array.constructor as new (length: number) => T
  const grown = new Type(Math.max(length, Math.min(array.length * 2, 2 ** 32)))
  grown.set(array)
  return grown
}
