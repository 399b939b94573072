/**
 * A shard of a snapshot, of whose recipients some are gone since, or share something with others who came.
 *
 * @module
 */
import type { Shard } from '../layout.js'
import { commonRuns, isWhole } from '../mask.js'
import { extendTies, type NewlyTied } from '../ties/extend-ties.js'
import type { Ties } from '../ties/ties.js'
import { GoneLog } from './gone-log.js'
import type { ShardIncrement } from './increment.js'
import { joinTied } from './increment-log.js'
import { Known } from './known.js'

/** One of the shards that are live. */
export interface LivePart {
  readonly sourceId: number
  /**
   * The shard at a moment.
   *
   * @param within  who is within a boundary, as runs; null where everybody is
   * @param withTies  whether it matters who shares something
   */
  seen(moment: number, within: Uint32Array | null, withTies: boolean): Shard
  /** All recipients that ever were. */
  columns(): Shard
  /** At least those who came behind a moment, gone or not. */
  cameSince(moment: number): Shard
}

export class SnapshotPart implements LivePart {
  readonly sourceId: number
  readonly #shard: Shard
  readonly #gone = new GoneLog()
  readonly #byContact: GrowingTies
  readonly #byPhone: GrowingTies
  readonly #known = new Known<Shard>()

  constructor(shard: Shard) {
    this.sourceId = shard.sourceId
    this.#shard = shard
    this.#byContact = new GrowingTies(shard.contactTies, shard.recipientCount)
    this.#byPhone = new GrowingTies(shard.phoneTies, shard.recipientCount)
  }

  add({ gone, byContact, byPhone }: ShardIncrement): void {
    this.#gone.add(gone)
    this.#byContact.add(byContact)
    this.#byPhone.add(byPhone)
  }

  seen(moment: number, within: Uint32Array | null, withTies: boolean): Shard {
    const shard = this.#shard
    const { recipientCount } = shard
    const goneCount = this.#gone.countAt(moment)
    const inside = within !== null && isWhole(within, recipientCount) ? null : within
    const contactTies = withTies ? this.#byContact.ties() : shard.contactTies
    const phoneTies = withTies ? this.#byPhone.ties() : shard.phoneTies
    const isAsItWas = contactTies === shard.contactTies && phoneTies === shard.phoneTies
    if (goneCount === 0 && inside === null && isAsItWas) return shard
    return this.#known.of([goneCount, inside, contactTies, phoneTies], () => {
      const there = goneCount === 0 ? null : this.#gone.runsAt(goneCount, recipientCount)
      const mask = there === null || inside === null ? (there ?? inside) : commonRuns(there, inside)
      return { ...shard, mask, contactTies, phoneTies }
    })
  }

  columns(): Shard {
    return this.#shard
  }

  cameSince(): Shard {
    return this.#shard
  }
}

/** Ties to which some are added before each look. */
class GrowingTies {
  readonly #recipientCount: number
  readonly #added: NewlyTied[] = []
  #ties: Ties

  constructor(ties: Ties, recipientCount: number) {
    this.#ties = ties
    this.#recipientCount = recipientCount
  }

  add(tied: NewlyTied): void {
    if (tied.recipients.length > 0) this.#added.push(tied)
  }

  ties(): Ties {
    if (this.#added.length > 0) {
      this.#ties = extendTies(this.#ties, this.#recipientCount, joinTied(this.#added.splice(0)))
    }
    return this.#ties
  }
}
