/**
 * The delta of a source where changes are applied: who came, what they are known by, and what increments
 * tell of them.
 *
 * @module
 */
import type { Upsert } from '../changes/change.js'
import { limits } from '../limits.js'
import { growingBytes, growingUnits, growingWords } from '../shard/delta/growing.js'
import type { DeltaIncrement } from '../shard/delta/increment.js'
import { buildPack, type PackImage } from '../shard/delta/packs.js'
import { type Marks, marksBytes } from '../shard/suppressed.js'

/** What whoever came shares with others. */
interface SharedIds {
  readonly contactId: number
  readonly phoneId: number
}

export class GrowingDelta {
  readonly #sourceId: number
  readonly #sourceIndex: number
  readonly #moments = growingWords()
  readonly #coords = growingUnits()
  readonly #phoneEnds = growingWords()
  readonly #phones = growingBytes()
  readonly #contactIds = growingWords()
  readonly #phoneIds = growingWords()
  readonly #gone = growingWords()
  readonly #goneMoments = growingWords()
  /** Of those that are there. */
  readonly #placesByIdentity = new Map<string, number>()
  readonly #upserts: Upsert[] = []
  readonly #marks: Marks = new Int32Array(
    new SharedArrayBuffer(marksBytes(limits.deltaRecipientCount)),
  )
  /** Where each pack ends. */
  #packEnds: number[] = []
  #toldComeCount = 0
  #toldGoneCount = 0

  constructor(sourceId: number, sourceIndex: number) {
    this.#sourceId = sourceId
    this.#sourceIndex = sourceIndex
  }

  /** How many came, whether or not they are there. */
  get recipientCount(): number {
    return this.#moments.length
  }

  get goneCount(): number {
    return this.#gone.length
  }

  /** Whoever is there and has an identity, as they came. */
  find(identity: string): Upsert | undefined {
    const place = this.#placesByIdentity.get(identity)
    return place === undefined ? undefined : this.#upserts[place]
  }

  come(upsert: Upsert, { contactId, phoneId }: SharedIds, moment: number): void {
    this.#placesByIdentity.set(upsert.identity, this.#upserts.length)
    this.#upserts.push(upsert)
    this.#moments.push(moment)
    this.#coords.append([upsert.lng, upsert.lat])
    this.#phones.append(Buffer.from(upsert.phone))
    this.#phoneEnds.push(this.#phones.length)
    this.#contactIds.push(contactId)
    this.#phoneIds.push(phoneId)
  }

  /** @returns whether there was somebody */
  go(identity: string, moment: number): boolean {
    const place = this.#placesByIdentity.get(identity)
    if (place === undefined) return false
    this.#placesByIdentity.delete(identity)
    this.#gone.push(place)
    this.#goneMoments.push(moment)
    return true
  }

  /** @returns how many there were */
  clear(moment: number): number {
    const identities = [...this.#placesByIdentity.keys()]
    for (const identity of identities) this.go(identity, moment)
    return identities.length
  }

  /** What changed since the last call; undefined where nothing did. */
  takeIncrement(): DeltaIncrement | undefined {
    const start = this.#toldComeCount
    const goneStart = this.#toldGoneCount
    const end = this.recipientCount
    if (start === end && goneStart === this.goneCount) return undefined
    this.#toldComeCount = end
    this.#toldGoneCount = this.goneCount
    const phonesStart = start === 0 ? 0 : this.#phoneEnds.view()[start - 1]
    return {
      sourceIndex: this.#sourceIndex,
      come: {
        moments: this.#moments.view(start).slice(),
        coords: this.#coords.view(2 * start).slice(),
        phoneEnds: this.#phoneEnds.view(start).map((phoneEnd) => phoneEnd - phonesStart),
        phones: this.#phones.view(phonesStart).slice(),
        contactIds: this.#contactIds.view(start).slice(),
        phoneIds: this.#phoneIds.view(start).slice(),
      },
      gone: {
        recipients: this.#gone.view(goneStart).slice(),
        moments: this.#goneMoments.view(goneStart).slice(),
      },
      ...this.#pack(),
      marks: this.#marks,
    }
  }

  /**
   * Packs whoever came since, together with those before them that are not many more: so each is packed
   * again a few times, and there are few packs.
   */
  #pack(): { readonly keptPackCount: number; readonly packs: PackImage[] } {
    const ends = this.#packEnds
    const end = this.recipientCount
    if ((ends.at(-1) ?? 0) === end) return { keptPackCount: ends.length, packs: [] }
    let keptPackCount = ends.length
    const startOf = (pack: number) => (pack === 0 ? 0 : ends[pack - 1])
    let start = startOf(keptPackCount)
    while (
      keptPackCount > 0 &&
      start - startOf(keptPackCount - 1) <= PACKED_AGAIN * (end - start)
    ) {
      start = startOf(--keptPackCount)
    }
    this.#packEnds = [...ends.slice(0, keptPackCount), end]
    return { keptPackCount, packs: [buildPack(this.#sourceId, this.#coords.view(), start, end)] }
  }
}

/** A pack that is at most so many times as large as what came behind it is packed with it. */
const PACKED_AGAIN = 16
