/**
 * What recipients share with those that came: an id for each contact of a source, or for each phone of a
 * snapshot. Whoever shared something in the snapshot keeps its id; whoever shares only now is newly tied.
 *
 * @module
 */
import type { Shard } from '../shard/layout.js'
import type { NewlyTied } from '../shard/ties/extend-ties.js'
import { rankOf } from '../shard/ties/ranked-set.js'
import type { Ties } from '../shard/ties/ties.js'
import type { Found } from './phone-finder.js'

type Tie = 'contactTies' | 'phoneTies'

export class TieIds {
  readonly #shards: readonly Shard[]
  readonly #tie: Tie
  readonly #ids = new Map<string, number>()
  /** By shard; what no increment had yet. */
  #newlyTied = new Map<number, Map<number, number>>()
  #idEnd: number

  /**
   * @param shards  all of the snapshot
   * @param sourceId  the one source within which it is shared; all unless given
   */
  constructor(shards: readonly Shard[], tie: Tie, sourceId?: number) {
    this.#shards = shards
    this.#tie = tie
    const own = shards.filter((shard) => sourceId === undefined || shard.sourceId === sourceId)
    this.#idEnd = own.reduce((end, shard) => Math.max(end, shard[tie].idEnd), 0)
  }

  /** @param holders  the recipients of the snapshot that have the text */
  of(text: string, holders: () => readonly Found[]): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    const id = this.#idOfAny(holders())
    this.#ids.set(text, id)
    return id
  }

  #idOfAny(holders: readonly Found[]): number {
    for (const { shardIndex, recipient } of holders) {
      const id = idIn(this.#shards[shardIndex][this.#tie], recipient)
      if (id !== undefined) return id
    }
    const id = this.#idEnd++
    for (const { shardIndex, recipient } of holders) {
      const tied = this.#newlyTied.get(shardIndex) ?? new Map<number, number>()
      this.#newlyTied.set(shardIndex, tied)
      tied.set(recipient, id)
    }
    return id
  }

  /** Who became tied since the last call, by shard. */
  takeNewlyTied(): ReadonlyMap<number, NewlyTied> {
    const taken = new Map<number, NewlyTied>()
    for (const [shardIndex, tied] of this.#newlyTied) {
      const pairs = [...tied].sort(([left], [right]) => left - right)
      taken.set(shardIndex, {
        recipients: Uint32Array.from(pairs, ([recipient]) => recipient),
        ids: Uint32Array.from(pairs, ([, id]) => id),
      })
    }
    this.#newlyTied = new Map()
    return taken
  }
}

/** Undefined for whoever is not tied. */
function idIn({ set, ids }: Ties, recipient: number): number | undefined {
  if (set === null) return ids[recipient]
  const isTied = ((set[2 * (recipient >>> 5) + 1] >>> (recipient & 31)) & 1) === 1
  return isTied ? ids[rankOf(set, recipient)] : undefined
}
