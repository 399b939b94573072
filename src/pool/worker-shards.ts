/**
 * The shards of a query worker as requests see them, at their moments and within their masks.
 *
 * The front sends masks and increments before the first task that needs them. The worker reads them when a
 * task needs one that it does not have, and on the way to the message of a task. So it is never behind what a
 * task needs, though it may read later than the front has sent.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { LiveShards } from '../shard/delta/live-shards.js'
import type { Shard } from '../shard/layout.js'
import type { Mask } from '../shard/mask.js'
import type { WorkerMessage, WorkerTask } from './channel.js'
import type { TimedQuery } from './codec.js'

type View = Pick<
  TimedQuery,
  'kind' | 'shardIndexes' | 'moment' | 'since' | 'maskId' | 'countMode' | 'isDistinct'
>

export class WorkerShards {
  readonly #live: LiveShards
  readonly #receive: () => WorkerMessage | undefined
  readonly #masks = new Map<number, Mask>()
  #moment = 0

  /**
   * @param live  at moment 0
   * @param receive  reads the next message of the front, if there is one
   */
  constructor(live: LiveShards, receive: () => WorkerMessage | undefined) {
    this.#live = live
    this.#receive = receive
  }

  /** The shards of a query, in its order. */
  of({ kind, shardIndexes, moment, since, maskId, countMode, isDistinct }: View): Shard[] {
    while (this.#moment < moment) this.#applyNext('an increment')
    while (maskId !== 0 && !this.#masks.has(maskId)) this.#applyNext('a mask')
    const mask = this.#masks.get(maskId) ?? null
    const withTies = countMode === 'Contact' || isDistinct
    const shards: Shard[] = []
    // Array.from with a function takes as long as the search in a small shard.
    for (let at = 0; at < shardIndexes.length; at++) {
      const index = shardIndexes[at]
      shards.push(
        kind === 'cover'
          ? this.#live.cameSince(index, since)
          : this.#live.at(index, moment, mask, withTies),
      )
    }
    return shards
  }

  /** The shard that a list has rows of. */
  columnsAt(index: number): Shard {
    return this.#live.columnsAt(index)
  }

  nextTask(): WorkerTask {
    for (;;) {
      const message = this.#receive()
      assert(message, 'a task was sent before its slot was published')
      if (message.kind !== 'mask' && message.kind !== 'increment') return message
      this.#apply(message)
    }
  }

  #applyNext(what: string): void {
    const message = this.#receive()
    const isExpected = message?.kind === 'mask' || message?.kind === 'increment'
    assert(isExpected, `${what} was sent before its task`)
    this.#apply(message)
  }

  #apply(message: Extract<WorkerMessage, { kind: 'mask' | 'increment' }>): void {
    if (message.kind === 'increment') {
      this.#live.add(message.increment)
      this.#moment = message.increment.moment
      return
    }
    for (const id of message.forgottenIds) this.#masks.delete(id)
    this.#masks.set(message.mask.id, message.mask)
  }
}
