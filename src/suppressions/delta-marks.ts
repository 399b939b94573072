/**
 * The marks of those who came to a source since its snapshot: set and cleared for the recipients that have a
 * phone, as they come.
 *
 * @module
 */
import { hashBytes } from '../shard/hash-bytes.js'
import type { Marks } from '../shard/suppressed.js'
import type { DeltaNews } from './changed-recipients.js'
import { isListed } from './listed-phones.js'
import type { PhoneTable } from './phone-table.js'
import { setMark } from './set-mark.js'
import type { Markable } from './shard-marks.js'

export class DeltaMarks implements Markable {
  readonly sourceId: number
  readonly #marks: Marks
  /** Of each recipient, in the order in which they came. */
  readonly #phones: string[] = []
  readonly #places = new Map<string, number[]>()
  readonly #gone = new Set<number>()

  constructor(sourceId: number, marks: Marks) {
    this.sourceId = sourceId
    this.#marks = marks
  }

  /**
   * Takes those who came and went.
   *
   * @param isSuppressed  whether a phone is on a list that holds for the source, at this moment
   */
  add({ phones, phoneEnds, gone }: DeltaNews, isSuppressed: (phone: string) => boolean): void {
    const text = Buffer.from(phones.buffer, phones.byteOffset, phones.byteLength)
    let start = 0
    for (const end of phoneEnds) {
      const phone = text.toString('utf8', start, end)
      start = end
      const place = this.#phones.length
      this.#phones.push(phone)
      const places = this.#places.get(phone)
      if (places === undefined) this.#places.set(phone, [place])
      else places.push(place)
      if (isSuppressed(phone)) this.set(place, true)
    }
    for (const place of gone) this.#gone.add(place)
  }

  recipientsWith({ phone }: { readonly phone: string }): readonly number[] {
    return this.#places.get(phone) ?? []
  }

  countWith(wanted: { readonly phone: string }): number {
    return this.recipientsWith(wanted).filter((place) => !this.#gone.has(place)).length
  }

  set(recipient: number, isSuppressed: boolean): boolean {
    return setMark(this.#marks, recipient, isSuppressed)
  }

  compare(lists: readonly PhoneTable[]): void {
    for (const [phone, places] of this.#places) {
      const bytes = Buffer.from(phone)
      const hash = hashBytes(bytes, 0, bytes.length)
      const isSuppressed = lists.some((list) => isListed(list, bytes, 0, bytes.length, hash))
      for (const place of places) this.set(place, isSuppressed)
    }
  }
}
