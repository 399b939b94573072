/**
 * The texts of a DuckDB vector, end to end, with few calls into native code.
 *
 * A text is 16 bytes in the vector: its length, and then up to 12 bytes themselves, or the first four
 * and a pointer. In a chunk of a streamed result the longer ones lie one behind the other as a rule,
 * so a whole run of them is read with one call. A run is read only if each text begins exactly where
 * the one before ended, so nothing is ever read that is not a text of the vector.
 *
 * @module
 */
import duckdb from '@duckdb/node-bindings'

const TEXT_BYTES = 16
const TEXT_WORDS = 4
const INLINE_BYTES = 12

/** Texts end to end: text `i` is at [offsets[i], offsets[i + 1]). */
export class TextVector {
  bytes = new Uint8Array(1 << 16)
  offsets = new Uint32Array(1)

  /** Takes the place of what was there. No text may be null. */
  read(vector: duckdb.Vector, count: number): void {
    if (this.offsets.length <= count) this.offsets = new Uint32Array(count + 1)
    const items = duckdb.vector_get_data(vector, count * TEXT_BYTES)
    const words = new Uint32Array(items.buffer, items.byteOffset, count * TEXT_WORDS)
    this.#measure(words, count)
    const { bytes, offsets } = this
    let runRow = 0
    let runStart = 0
    /** Where the run ends in memory; no text begins at -1. */
    let runEnd = -1
    for (let row = 0; row < count; row++) {
      const length = words[row * TEXT_WORDS]
      if (length <= INLINE_BYTES) {
        const from = row * TEXT_BYTES + 4
        const to = offsets[row]
        for (let at = 0; at < length; at++) bytes[to + at] = items[from + at]
        continue
      }
      const start = words[row * TEXT_WORDS + 2] + words[row * TEXT_WORDS + 3] * 2 ** 32
      if (start !== runEnd) {
        if (runEnd !== -1) this.#copyRun(items, words, runRow, row, runEnd - runStart)
        runRow = row
        runStart = start
      }
      runEnd = start + length
    }
    if (runEnd !== -1) this.#copyRun(items, words, runRow, count, runEnd - runStart)
  }

  /**
   * Puts other texts of ASCII into the place of some.
   *
   * @param change  gives the new text of a row, or undefined where it stays
   */
  replace(count: number, change: (row: number, text: string) => string | undefined): void {
    const from = Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength)
    let to = Buffer.allocUnsafe(from.length)
    const { offsets } = this
    let start = 0
    let end = 0
    for (let row = 0; row < count; row++) {
      const next = offsets[row + 1]
      const changed = change(row, from.toString('utf8', start, next))
      const byteCount = changed === undefined ? next - start : changed.length
      if (end + byteCount > to.length) to = Buffer.concat([to, Buffer.alloc(to.length + byteCount)])
      if (changed === undefined) from.copy(to, end, start, next)
      else to.write(changed, end, 'latin1')
      end += byteCount
      start = next
      offsets[row + 1] = end
    }
    this.bytes = to
  }

  #measure(words: Uint32Array, count: number): void {
    const { offsets } = this
    let end = 0
    for (let row = 0; row < count; row++) {
      end += words[row * TEXT_WORDS]
      offsets[row + 1] = end
    }
    if (end > this.bytes.length) this.bytes = new Uint8Array(end * 2)
  }

  /** The texts with pointers of rows [firstRow, endRow), which are `byteCount` bytes in a row. */
  #copyRun(
    items: Uint8Array,
    words: Uint32Array,
    firstRow: number,
    endRow: number,
    byteCount: number,
  ): void {
    const { bytes, offsets } = this
    const pointerAt = items.byteOffset + firstRow * TEXT_BYTES + 8
    const run = duckdb.get_data_from_pointer(items.buffer as ArrayBuffer, pointerAt, byteCount)
    if (offsets[endRow] - offsets[firstRow] === byteCount) {
      bytes.set(run, offsets[firstRow])
      return
    }
    // Short texts stand between them.
    let from = 0
    for (let row = firstRow; row < endRow; row++) {
      const length = words[row * TEXT_WORDS]
      if (length <= INLINE_BYTES) continue
      const to = offsets[row]
      for (let at = 0; at < length; at++) bytes[to + at] = run[from + at]
      from += length
    }
  }
}
