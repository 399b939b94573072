/**
 * Gathers recipients into columns that grow without an object per row.
 *
 * Each recipient gets a contact: recipients with the same contact text share one, and so do
 * recipients without a contact text that have the same number. The two never mix: a contact text
 * that reads like a number is not that number. Contacts are dense, by first appearance.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { RecipientColumns } from '../shard/columns.js'
import { Interner } from './intern.js'
import { grow, TextColumn } from './text-column.js'

const FIRST_COUNT = 1 << 12

export class RecipientCollector {
  readonly #numbers = new TextColumn()
  readonly #numbersKnown = new Interner(this.#numbers)
  readonly #contactTexts = new TextColumn()
  readonly #contactTextsKnown = new Interner(this.#contactTexts)
  /** Contact of each of the contact texts. */
  #contactOfText = new Uint32Array(FIRST_COUNT)
  #lngs = new Int32Array(FIRST_COUNT)
  #lats = new Int32Array(FIRST_COUNT)
  #contacts = new Uint32Array(FIRST_COUNT)
  #contactCount = 0
  readonly #recipientCountMax: number

  constructor(recipientCountMax: number = limits.sourceRecipientCount) {
    this.#recipientCountMax = recipientCountMax
  }

  get recipientCount(): number {
    return this.#numbers.count
  }

  /** Adds a recipient; `setContact` or `setNoContact` must follow. */
  add(lng: number, lat: number, bytes: Uint8Array, start: number, end: number): void {
    const row = this.#numbers.count
    if (row === this.#recipientCountMax) {
      throw new OperatorError(
        'InputRejected',
        `more than ${this.#recipientCountMax} recipients: import them as several sources`,
      )
    }
    if (row === this.#lngs.length) {
      this.#lngs = grow(this.#lngs, row + 1)
      this.#lats = grow(this.#lats, row + 1)
      this.#contacts = grow(this.#contacts, row + 1)
    }
    this.#lngs[row] = lng
    this.#lats[row] = lat
    this.#numbers.append(bytes, start, end)
  }

  /** Gives the last recipient the contact of this text. */
  setContact(bytes: Uint8Array, start: number, end: number): void {
    const texts = this.#contactTexts
    const text = texts.append(bytes, start, end)
    const known = this.#contactTextsKnown.firstEqual(text)
    if (known === text) {
      if (text === this.#contactOfText.length) {
        this.#contactOfText = grow(this.#contactOfText, text + 1)
      }
      this.#contactOfText[text] = this.#contactCount++
    } else {
      texts.removeLast()
    }
    this.#contacts[this.#numbers.count - 1] = this.#contactOfText[known]
  }

  /** Gives the last recipient the contact of all that have its number and no contact text. */
  setNoContact(): void {
    const row = this.#numbers.count - 1
    const known = this.#numbersKnown.firstEqual(row)
    this.#contacts[row] = known === row ? this.#contactCount++ : this.#contacts[known]
  }

  /** The columns; views of what was gathered, so nothing may be added afterwards. */
  finish(): RecipientColumns {
    const { count, bytes, offsets } = this.#numbers
    return {
      recipientCount: count,
      lngs: this.#lngs.subarray(0, count),
      lats: this.#lats.subarray(0, count),
      contacts: this.#contacts.subarray(0, count),
      contactCount: this.#contactCount,
      numberOffsets: offsets.subarray(0, count + 1),
      numbers: bytes.subarray(0, offsets[count]),
    }
  }
}
