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
}

export class SnapshotPart implements LivePart {
  readonly sourceId: number
  readonly #shard: Shard
  readonly #gone = new GoneLog()
  readonly #byContact: GrowingTies
  readonly #byPhone: GrowingTies
  readonly #masks = new KnownMasks()

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
    const mask =
      goneCount === 0
        ? inside
        : this.#masks.of(goneCount, recipientCount, inside, () =>
            this.#gone.runsAt(goneCount, recipientCount),
          )
    const contactTies = withTies ? this.#byContact.ties() : shard.contactTies
    const phoneTies = withTies ? this.#byPhone.ties() : shard.phoneTies
    const isPlain =
      mask === null && contactTies === shard.contactTies && phoneTies === shard.phoneTies
    return isPlain ? shard : { ...shard, mask, contactTies, phoneTies }
  }

  columns(): Shard {
    return this.#shard
  }
}

/** Masks that were made lately: most requests ask for the same ones. */
export class KnownMasks {
  readonly #known: KnownMask[] = []

  /**
   * @param goneCount  how many are gone, of how many
   * @param within  who is within a boundary; null where everybody is
   * @param there  who is there, as runs
   */
  of(
    goneCount: number,
    recipientCount: number,
    within: Uint32Array | null,
    there: () => Uint32Array,
  ): Uint32Array {
    for (const known of this.#known) {
      const isSame =
        known.goneCount === goneCount &&
        known.recipientCount === recipientCount &&
        known.within === within
      if (isSame) return known.mask
    }
    const all = within === null ? there() : this.of(goneCount, recipientCount, null, there)
    const mask = within === null ? all : commonRuns(all, within)
    this.#known.unshift({ goneCount, recipientCount, within, mask })
    this.#known.length = Math.min(this.#known.length, KNOWN_MASK_COUNT)
    return mask
  }
}

interface KnownMask {
  readonly goneCount: number
  readonly recipientCount: number
  readonly within: Uint32Array | null
  readonly mask: Uint32Array
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
      this.#ties = extendTies(this.#ties, this.#recipientCount, joined(this.#added.splice(0)))
    }
    return this.#ties
  }
}

function joined(all: readonly NewlyTied[]): NewlyTied {
  const [first, ...others] = all
  if (others.length === 0) return first
  const pairs = all.flatMap(({ recipients, ids }) =>
    Array.from(recipients, (recipient, at): [number, number] => [recipient, ids[at]]),
  )
  pairs.sort(([left], [right]) => left - right)
  return {
    recipients: Uint32Array.from(pairs, ([recipient]) => recipient),
    ids: Uint32Array.from(pairs, ([, id]) => id),
  }
}

/** The newest moment, one before it and one of a list that is paged, each with a boundary or two. */
const KNOWN_MASK_COUNT = 8
