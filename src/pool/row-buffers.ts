/**
 * Shared memory that workers write rows into and fronts send from, used again and again: what is
 * made anew for each piece of a list would grow faster than it is collected.
 *
 * @module
 */
import { limits } from '../limits.js'

export class RowBuffers {
  readonly #free: Uint8Array[] = []

  take(): Uint8Array {
    return this.#free.pop() ?? new Uint8Array(new SharedArrayBuffer(limits.rowBufferBytes))
  }

  /** Only what no worker writes into any more may come back. */
  giveBack(buffer: Uint8Array): void {
    if (this.#free.length < limits.rowBufferCount) this.#free.push(buffer)
  }
}
