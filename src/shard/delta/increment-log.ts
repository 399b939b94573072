/**
 * All increments of a snapshot, for whoever begins later: as few as may be, each of many moments.
 *
 * @module
 */
import type { NewlyTied } from '../ties/extend-ties.js'
import type { DeltaIncrement, Gone, Increment, ShardIncrement } from './increment.js'

export class IncrementLog {
  readonly #entries: { readonly increment: Increment; readonly size: number }[] = []

  /** Joins it with those before it that are not many times as large, so that each is joined a few times. */
  add(increment: Increment): void {
    let joined = increment
    let size = sizeOf(increment)
    for (let last = this.#entries.at(-1); last !== undefined; last = this.#entries.at(-1)) {
      if (last.size > JOINED_AGAIN * size) break
      this.#entries.pop()
      joined = joinIncrements(last.increment, joined)
      size += last.size
    }
    this.#entries.push({ increment: joined, size })
  }

  /** In their order. */
  all(): Increment[] {
    return this.#entries.map(({ increment }) => increment)
  }
}

/** One that is at most so many times as large as what comes behind it is joined with it. */
const JOINED_AGAIN = 2

/** How many things it has, about. */
function sizeOf({ shards, deltas }: Increment): number {
  let size = 1
  for (const { gone, byContact, byPhone } of shards) {
    size += 1 + gone.recipients.length + byContact.ids.length + byPhone.ids.length
  }
  for (const { come, gone } of deltas) size += 1 + gone.recipients.length + come.moments.length
  return size
}

/** One that says what two say that follow one another. */
function joinIncrements(first: Increment, second: Increment): Increment {
  return {
    moment: second.moment,
    seals: joinWords(first.seals, second.seals),
    shards: joinBy('shardIndex', first.shards, second.shards, joinShards),
    deltas: joinBy('sourceIndex', first.deltas, second.deltas, joinDeltas),
  }
}

function joinBy<Name extends string, Item extends Readonly<Record<Name, number>>>(
  name: Name,
  first: readonly Item[],
  second: readonly Item[],
  join: (left: Item, right: Item) => Item,
): Item[] {
  const joined = new Map(first.map((item) => [item[name], item]))
  for (const item of second) {
    const before = joined.get(item[name])
    joined.set(item[name], before === undefined ? item : join(before, item))
  }
  return [...joined.values()]
}

function joinShards(left: ShardIncrement, right: ShardIncrement): ShardIncrement {
  return {
    shardIndex: left.shardIndex,
    gone: joinGone(left.gone, right.gone),
    byContact: joinTied([left.byContact, right.byContact]),
    byPhone: joinTied([left.byPhone, right.byPhone]),
  }
}

function joinDeltas(left: DeltaIncrement, right: DeltaIncrement): DeltaIncrement {
  const stayed = right.keptPackCount - left.keptPackCount
  const phonesEnd = left.come.phones.length
  return {
    sourceIndex: left.sourceIndex,
    come: {
      moments: joinWords(left.come.moments, right.come.moments),
      coords: joinUnits(left.come.coords, right.come.coords),
      phoneEnds: joinWords(
        left.come.phoneEnds,
        right.come.phoneEnds.map((end) => phonesEnd + end),
      ),
      phones: Buffer.concat([left.come.phones, right.come.phones]),
      contactIds: joinWords(left.come.contactIds, right.come.contactIds),
      phoneIds: joinWords(left.come.phoneIds, right.come.phoneIds),
    },
    gone: joinGone(left.gone, right.gone),
    keptPackCount: Math.min(left.keptPackCount, right.keptPackCount),
    packs: [...left.packs.slice(0, Math.max(0, stayed)), ...right.packs],
    marks: right.marks,
  }
}

function joinGone(left: Gone, right: Gone): Gone {
  return {
    recipients: joinWords(left.recipients, right.recipients),
    moments: joinWords(left.moments, right.moments),
  }
}

function joinWords(left: Uint32Array, right: Uint32Array): Uint32Array {
  const all = new Uint32Array(left.length + right.length)
  all.set(left)
  all.set(right, left.length)
  return all
}

function joinUnits(left: Int32Array, right: Int32Array): Int32Array {
  const all = new Int32Array(left.length + right.length)
  all.set(left)
  all.set(right, left.length)
  return all
}

/**
 * All of several, ascending; nobody is among them twice.
 *
 * @param all  one or more
 */
export function joinTied(all: readonly NewlyTied[]): NewlyTied {
  if (all.length === 1) return all[0]
  const middle = all.length >>> 1
  return merge(joinTied(all.slice(0, middle)), joinTied(all.slice(middle)))
}

/** Takes some nanoseconds for each: front threads answer nobody meanwhile, and there may be a million. */
function merge(left: NewlyTied, right: NewlyTied): NewlyTied {
  const [leftCount, rightCount] = [left.recipients.length, right.recipients.length]
  if (leftCount === 0) return right
  if (rightCount === 0) return left
  const recipients = new Uint32Array(leftCount + rightCount)
  const ids = new Uint32Array(leftCount + rightCount)
  let [fromLeft, fromRight] = [0, 0]
  for (let at = 0; at < recipients.length; at++) {
    const isLeft =
      fromRight === rightCount ||
      (fromLeft < leftCount && left.recipients[fromLeft] < right.recipients[fromRight])
    const { recipients: from, ids: ofFrom } = isLeft ? left : right
    const place = isLeft ? fromLeft++ : fromRight++
    recipients[at] = from[place]
    ids[at] = ofFrom[place]
  }
  return { recipients, ids }
}
