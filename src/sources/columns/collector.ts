/**
 * Gathers recipients into columns in shared memory, some thousand at a time.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { RecipientColumns } from '../../shard/columns.js'
import type { RecipientBatch, RecipientSink } from '../batch.js'
import { findContacts } from './contacts.js'
import { SharedColumn } from './growing-column.js'

/** Offsets are 32-bit, so the texts of one column take less than 4 GiB. */
const TEXT_BYTES_MAX = 2 ** 32 - 1

interface CollectorOptions {
  readonly recipientCountMax?: number
  readonly textBytesMax?: number
}

export class RecipientCollector implements RecipientSink {
  readonly #lngs: SharedColumn<Int32Array>
  readonly #lats: SharedColumn<Int32Array>
  readonly #phones: TextColumn
  readonly #contacts: TextColumn
  /** Undefined until a batch has keys. */
  #keys: TextColumn | undefined
  readonly #recipientCountMax: number
  readonly #textBytesMax: number

  constructor(options: CollectorOptions = {}) {
    const recipientCountMax = options.recipientCountMax ?? limits.sourceRecipientCount
    const textBytesMax = options.textBytesMax ?? TEXT_BYTES_MAX
    this.#recipientCountMax = recipientCountMax
    this.#textBytesMax = textBytesMax
    this.#lngs = new SharedColumn(Int32Array, recipientCountMax)
    this.#lats = new SharedColumn(Int32Array, recipientCountMax)
    this.#phones = new TextColumn(recipientCountMax, textBytesMax)
    this.#contacts = new TextColumn(recipientCountMax, textBytesMax)
  }

  get recipientCount(): number {
    return this.#lngs.length
  }

  /** @throws OperatorError  `InputRejected` beyond the limits of one source */
  add(batch: RecipientBatch): void {
    const { recipientCount } = batch
    if (this.recipientCount + recipientCount > this.#recipientCountMax) {
      throw new OperatorError(
        'InputRejected',
        `more than ${this.#recipientCountMax} recipients: import them as several sources`,
      )
    }
    const { keys, keyOffsets } = batch
    if (keys !== undefined && keyOffsets !== undefined) {
      this.#keys ??= new TextColumn(this.#recipientCountMax, this.#textBytesMax)
      this.#keys.append(keys, keyOffsets, recipientCount)
    }
    this.#phones.append(batch.phones, batch.phoneOffsets, recipientCount)
    this.#contacts.append(batch.contacts, batch.contactOffsets, recipientCount)
    this.#lngs.extend(recipientCount).set(batch.lngs.subarray(0, recipientCount))
    this.#lats.extend(recipientCount).set(batch.lats.subarray(0, recipientCount))
  }

  truncate(recipientCount: number): void {
    this.#phones.truncate(recipientCount)
    this.#contacts.truncate(recipientCount)
    this.#keys?.truncate(recipientCount)
    this.#lngs.length = recipientCount
    this.#lats.length = recipientCount
  }

  /** The columns: views of what was gathered. Nothing may be added afterwards. */
  async finish(): Promise<RecipientColumns> {
    const { recipientCount } = this
    const { bytes: phones, offsets: phoneOffsets } = this.#phones.finish()
    const { bytes: contactTexts, offsets: contactOffsets } = this.#contacts.finish()
    const texts = { recipientCount, phoneOffsets, phones, contactOffsets, contactTexts }
    const { contacts, contactCount } = await findContacts(texts)
    return {
      recipientCount,
      lngs: this.#lngs.finish(),
      lats: this.#lats.finish(),
      contacts,
      contactCount,
      phoneOffsets,
      phones,
      identities: { contactOffsets, contactTexts, keys: this.#finishedKeys() },
    }
  }

  #finishedKeys() {
    if (this.#keys === undefined) return null
    const { bytes, offsets } = this.#keys.finish()
    return { offsets, texts: bytes }
  }
}

class TextColumn {
  readonly #bytes: SharedColumn<Uint8Array>
  readonly #offsets: SharedColumn<Uint32Array>
  readonly #bytesMax: number

  constructor(countMax: number, bytesMax: number) {
    this.#bytes = new SharedColumn(Uint8Array, bytesMax)
    this.#offsets = new SharedColumn(Uint32Array, countMax + 1)
    this.#offsets.extend(1)[0] = 0
    this.#bytesMax = bytesMax
  }

  append(bytes: Uint8Array, offsets: Uint32Array, count: number): void {
    const start = offsets[0]
    const end = offsets[count]
    const base = this.#bytes.length
    if (base + (end - start) > this.#bytesMax) {
      throw new OperatorError(
        'InputRejected',
        `the texts of one source take more than ${this.#bytesMax} bytes: import it as several sources`,
      )
    }
    this.#bytes.extend(end - start).set(bytes.subarray(start, end))
    const ends = this.#offsets.extend(count)
    for (let at = 0; at < count; at++) ends[at] = base + (offsets[at + 1] - start)
  }

  truncate(count: number): void {
    this.#bytes.length = this.#offsets.finish()[count]
    this.#offsets.length = count + 1
  }

  finish(): { bytes: Uint8Array; offsets: Uint32Array } {
    return { bytes: this.#bytes.finish(), offsets: this.#offsets.finish() }
  }
}
