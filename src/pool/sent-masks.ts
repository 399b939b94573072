/**
 * Which masks a query worker has, as the front thread knows them that sends them. A mask goes to a worker
 * once, with its first task there, so that one that takes the place of a dead worker gets it as well.
 *
 * @module
 */
import { limits } from '../limits.js'
import { type Mask, maskBytes } from '../shard/mask.js'
import type { MaskMessage } from './worker-messages.js'

export class SentMasks {
  /** Those that were needed least lately come first. */
  readonly #bytesById = new Map<number, number>()
  readonly #countMax: number
  readonly #bytesMax: number
  #bytes = 0

  constructor(countMax: number = limits.masksKeptCount, bytesMax: number = limits.masksKeptBytes) {
    this.#countMax = countMax
    this.#bytesMax = bytesMax
  }

  /** @returns undefined where the worker has the mask */
  messageFor(mask: Mask): MaskMessage | undefined {
    const { id } = mask
    const known = this.#bytesById.get(id)
    const bytes = known ?? maskBytes(mask)
    this.#bytesById.delete(id)
    this.#bytesById.set(id, bytes)
    if (known !== undefined) return undefined
    this.#bytes += bytes
    return { kind: 'mask', mask, forgottenIds: this.#forget() }
  }

  /** Never forgets the newest one. */
  #forget(): number[] {
    const forgottenIds: number[] = []
    for (const [id, bytes] of this.#bytesById) {
      const isFull = this.#bytesById.size > this.#countMax || this.#bytes > this.#bytesMax
      if (!isFull || this.#bytesById.size === 1) break
      this.#bytesById.delete(id)
      this.#bytes -= bytes
      forgottenIds.push(id)
    }
    return forgottenIds
  }
}
