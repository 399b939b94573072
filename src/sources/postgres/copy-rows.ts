/**
 * Takes apart what `COPY … TO STDOUT (FORMAT binary)` sends: a signature, rows of fields that say
 * how long they are, and a mark at the end.
 *
 * @module
 */

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** The signature, flags, and the length of an extension. */
const HEAD_BYTES = SIGNATURE.length + 4 + 4
const NULL_LENGTH = -1
const END_MARK = -1

/** Field `i` of a row is at [starts[i], ends[i]); one that is null begins and ends at -1. */
export type OnRow = (bytes: Buffer, starts: Int32Array, ends: Int32Array) => void

export class CopyRows {
  readonly #fieldCount: number
  readonly #onRow: OnRow
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  /** The beginning of a row whose rest has not come yet. */
  #rest: Buffer | undefined
  #isHeadRead = false
  #isEnded = false
  #rowCount = 0

  constructor(fieldCount: number, onRow: OnRow) {
    this.#fieldCount = fieldCount
    this.#onRow = onRow
    this.#starts = new Int32Array(fieldCount)
    this.#ends = new Int32Array(fieldCount)
  }

  get rowCount(): number {
    return this.#rowCount
  }

  /** Whether the mark at the end has come, and nothing after it. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The next bytes, however they are cut; they may be used again afterwards. */
  push(piece: Buffer): void {
    const bytes = this.#rest === undefined ? piece : Buffer.concat([this.#rest, piece])
    this.#rest = undefined
    let at = this.#isHeadRead ? 0 : this.#readHead(bytes)
    while (at < bytes.length) {
      const next = this.#readRow(bytes, at)
      if (next === undefined) break
      at = next
    }
    // Copied, for the library uses the buffer again.
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at))
  }

  /** Returns where the rows begin: 0 as long as the head is not there as a whole. */
  #readHead(bytes: Buffer): number {
    if (bytes.length < HEAD_BYTES) return 0
    if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw malformed('signature')
    const end = HEAD_BYTES + bytes.readInt32BE(HEAD_BYTES - 4)
    if (bytes.length < end) return 0
    this.#isHeadRead = true
    return end
  }

  /** Returns where the next row begins; undefined if this one is not whole. */
  #readRow(bytes: Buffer, start: number): number | undefined {
    if (!this.#isHeadRead) return undefined
    if (this.#isEnded) throw malformed('end')
    if (start + 2 > bytes.length) return undefined
    const fieldCount = bytes.readInt16BE(start)
    if (fieldCount === END_MARK) {
      this.#isEnded = true
      return start + 2
    }
    if (fieldCount !== this.#fieldCount) throw malformed('number of fields')
    let at = start + 2
    for (let field = 0; field < fieldCount; field++) {
      if (at + 4 > bytes.length) return undefined
      const byteCount = bytes.readInt32BE(at)
      at += 4
      if (byteCount < NULL_LENGTH) throw malformed('length')
      const isNull = byteCount === NULL_LENGTH
      this.#starts[field] = isNull ? -1 : at
      if (!isNull) at += byteCount
      this.#ends[field] = isNull ? -1 : at
      if (at > bytes.length) return undefined
    }
    this.#rowCount++
    this.#onRow(bytes, this.#starts, this.#ends)
    return at
  }
}

function malformed(what: string): Error {
  return new Error(`the binary copy has a wrong ${what}`)
}
