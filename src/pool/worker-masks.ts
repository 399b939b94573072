/**
 * The shards of a query worker as requests with a mask see them.
 *
 * Masks are read when a task asks for what is not known yet, and on the way to the message of a task. The
 * front sends each before the first task that needs it, and says which ones to forget for it. So the
 * worker is never behind what a task needs, though it may read of a mask later than it was sent.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { Shard } from '../shard/layout.js'
import { maskShards } from '../shard/mask.js'
import type { MaskMessage, WorkerMessage, WorkerTask } from './worker-messages.js'

export class WorkerMasks {
  readonly #shards: readonly Shard[]
  readonly #receive: () => WorkerMessage | undefined
  readonly #maskedById = new Map<number, readonly Shard[]>()

  /**
   * @param shards  all of the snapshot
   * @param receive  takes the next message of the front, if there is one
   */
  constructor(shards: readonly Shard[], receive: () => WorkerMessage | undefined) {
    this.#shards = shards
    this.#receive = receive
  }

  /** The shards for a task; 0 is no mask. */
  shardsFor(maskId: number): readonly Shard[] {
    if (maskId === 0) return this.#shards
    for (;;) {
      const masked = this.#maskedById.get(maskId)
      if (masked !== undefined) return masked
      const message = this.#receive()
      assert(message?.kind === 'mask', 'a mask was sent before its task')
      this.#keep(message)
    }
  }

  nextTask(): WorkerTask {
    for (;;) {
      const message = this.#receive()
      assert(message, 'a task was sent before its slot was published')
      if (message.kind !== 'mask') return message
      this.#keep(message)
    }
  }

  #keep({ mask, forgottenIds }: MaskMessage): void {
    for (const id of forgottenIds) this.#maskedById.delete(id)
    this.#maskedById.set(mask.id, maskShards(this.#shards, mask))
  }
}
