/**
 * The delta of a source while it grows.
 *
 * @module
 */
import type { Pack, Shard } from '../layout.js'
import { commonRuns, isWhole } from '../mask.js'
import type { Marks } from '../suppressed.js'
import { deltaShard } from './delta-shard.js'
import { countUpTo, GoneLog } from './gone-log.js'
import { growingBytes, growingUnits, growingWords } from './growing.js'
import type { DeltaIncrement } from './increment.js'
import { Known } from './known.js'
import { attachPack } from './packs.js'
import type { LivePart } from './snapshot-part.js'

export class DeltaPart implements LivePart {
  readonly sourceId: number
  readonly #moments = growingWords()
  readonly #coords = growingUnits()
  readonly #phoneOffsets = growingWords()
  readonly #phones = growingBytes()
  readonly #contactIds = growingWords()
  readonly #phoneIds = growingWords()
  readonly #gone = new GoneLog()
  readonly #known = new Known<Shard>()
  #packs: readonly Pack[] = []
  #marks: Marks | null = null
  #contactIdEnd = 0
  #phoneIdEnd = 0

  constructor(sourceId: number) {
    this.sourceId = sourceId
    this.#phoneOffsets.push(0)
  }

  add({ come, gone, keptPackCount, packs, marks }: DeltaIncrement): void {
    const phonesStart = this.#phones.length
    this.#moments.append(come.moments)
    this.#coords.append(come.coords)
    for (const end of come.phoneEnds) this.#phoneOffsets.push(phonesStart + end)
    this.#phones.append(come.phones)
    this.#contactIds.append(come.contactIds)
    this.#phoneIds.append(come.phoneIds)
    for (const id of come.contactIds) this.#contactIdEnd = Math.max(this.#contactIdEnd, id + 1)
    for (const id of come.phoneIds) this.#phoneIdEnd = Math.max(this.#phoneIdEnd, id + 1)
    this.#gone.add(gone)
    this.#packs = [...this.#packs.slice(0, keptPackCount), ...packs.map(attachPack)]
    this.#marks = marks
  }

  get packs(): readonly Pack[] {
    return this.#packs
  }

  /** Takes the same packs where they lie now. */
  place(packs: readonly Pack[]): void {
    if (packs.some((pack, at) => pack !== this.#packs[at])) this.#packs = packs
  }

  seen(moment: number, within: Uint32Array | null): Shard {
    const comeCount = countUpTo(this.#moments.view(), moment)
    const goneCount = this.#gone.countAt(moment)
    return this.#known.of([comeCount, goneCount, within, this.#packs, this.#moments.length], () => {
      const there = this.#gone.runsAt(goneCount, comeCount)
      if (within !== null) return this.#shard(commonRuns(there, within))
      return this.#shard(isWhole(there, this.#moments.length) ? null : there)
    })
  }

  columns(): Shard {
    return this.#known.of([null, null, null, this.#packs, this.#moments.length], () =>
      this.#shard(null),
    )
  }

  cameSince(moment: number): Shard {
    const before = countUpTo(this.#moments.view(), moment)
    const packs = this.#packs.filter(({ endPlace }) => endPlace > before)
    return { ...this.columns(), packs }
  }

  #shard(mask: Uint32Array | null): Shard {
    return deltaShard(
      this.sourceId,
      {
        coords: this.#coords.view(),
        phoneOffsets: this.#phoneOffsets.view(),
        phones: this.#phones.view(),
        contactIds: this.#contactIds.view(),
        phoneIds: this.#phoneIds.view(),
        marks: this.#marks,
      },
      {
        recipientCount: this.#moments.length,
        contactIdEnd: this.#contactIdEnd,
        phoneIdEnd: this.#phoneIdEnd,
      },
      this.#packs,
      mask,
    )
  }
}
