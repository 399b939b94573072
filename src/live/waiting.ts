/**
 * How many batches are on their way to the thread of changes, and their bytes, counted in memory that all
 * threads share: what a thread has sent is held until the other one looks.
 *
 * @module
 */
import { limits } from '../limits.js'

/** Its memory, as it crosses threads. */
export const createWaiting = (): Int32Array => new Int32Array(new SharedArrayBuffer(8))

interface Bounds {
  readonly count: number
  readonly bytes: number
}

export class Waiting {
  readonly #memory: Int32Array
  readonly #bounds: Bounds

  constructor(memory: Int32Array, bounds: Partial<Bounds> = {}) {
    this.#memory = memory
    const { batchesWaitingCount: count, batchesWaitingBytes: bytes } = limits
    this.#bounds = { count, bytes, ...bounds }
  }

  /** @returns false where there is no room, and nothing is counted then */
  enter(byteCount: number): boolean {
    const count = Atomics.add(this.#memory, COUNT, 1) + 1
    const bytes = Atomics.add(this.#memory, BYTES, byteCount) + byteCount
    if (count <= this.#bounds.count && bytes <= this.#bounds.bytes) return true
    this.leave(byteCount)
    return false
  }

  /** How many are on their way. */
  get count(): number {
    return Atomics.load(this.#memory, COUNT)
  }

  leave(byteCount: number): void {
    Atomics.sub(this.#memory, COUNT, 1)
    Atomics.sub(this.#memory, BYTES, byteCount)
  }
}

const COUNT = 0
const BYTES = 1
