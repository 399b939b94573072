/**
 * The rows of an audience, read from its file from beginning to end, a block at a time: they need not be in
 * memory to be verified.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { BLOCK_BYTES, FormatFault, readBlocks } from '../snapshot/format/blocks.js'

/** What the header of the audience says of its rows. */
interface RowsHeader {
  readonly rowBytes: number
  readonly rowBlockCrc32s: readonly number[]
}

export class RowsImage {
  readonly #file: FileHandle
  readonly #header: RowsHeader
  readonly #start: number
  #block = new Uint8Array(0)
  #blockIndex = -1

  /** @param start  of the rows in the file */
  constructor(file: FileHandle, header: RowsHeader, start: number) {
    const { rowBytes, rowBlockCrc32s } = header
    this.#file = file
    this.#header = header
    this.#start = start
    const blockCount = Math.ceil(rowBytes / BLOCK_BYTES)
    if (rowBlockCrc32s.length !== blockCount) {
      throw new FormatFault(`found ${rowBlockCrc32s.length} checksums, expected ${blockCount}`)
    }
  }

  /**
   * The bytes from `start` to before `end`, in pieces that are there until the next one is asked for.
   *
   * @throws FormatFault
   */
  async *pieces(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const index = Math.floor(at / BLOCK_BYTES)
      if (index !== this.#blockIndex) await this.#read(index)
      const blockStart = index * BLOCK_BYTES
      const pieceEnd = Math.min(end, blockStart + this.#block.length)
      yield this.#block.subarray(at - blockStart, pieceEnd - blockStart)
      at = pieceEnd
    }
  }

  async #read(index: number): Promise<void> {
    const { rowBytes, rowBlockCrc32s } = this.#header
    const start = index * BLOCK_BYTES
    const block = new Uint8Array(Math.min(BLOCK_BYTES, rowBytes - start))
    const sums = rowBlockCrc32s.slice(index, index + 1)
    await readBlocks(this.#file, block, this.#start + start, sums)
    this.#block = block
    this.#blockIndex = index
    // A digest is made of all of them, and others are to be served meanwhile.
    await turn()
  }
}
