/**
 * Gathers recipients one by one into batches, and hands each over when it is full.
 *
 * @module
 */
import { limits } from '../../limits.js'
import type { RecipientSink } from '../batch.js'

export class BatchBuilder {
  readonly #sink: RecipientSink
  readonly #lngs = new Int32Array(BATCH_RECIPIENT_COUNT)
  readonly #lats = new Int32Array(BATCH_RECIPIENT_COUNT)
  readonly #phoneOffsets = new Uint32Array(BATCH_RECIPIENT_COUNT + 1)
  readonly #phones = new Uint8Array(BATCH_RECIPIENT_COUNT * limits.phoneBytes)
  readonly #contactOffsets = new Uint32Array(BATCH_RECIPIENT_COUNT + 1)
  readonly #contacts = new Uint8Array(BATCH_RECIPIENT_COUNT * limits.contactBytes)
  /** Undefined where the source has no keys. */
  readonly #keys: { readonly offsets: Uint32Array; readonly texts: Uint8Array } | undefined
  #count = 0
  #handedCount = 0

  constructor(sink: RecipientSink, hasKeys: boolean) {
    this.#sink = sink
    if (!hasKeys) return
    this.#keys = {
      offsets: new Uint32Array(BATCH_RECIPIENT_COUNT + 1),
      texts: new Uint8Array(BATCH_RECIPIENT_COUNT * limits.keyBytes),
    }
  }

  /** Of all batches together. */
  get recipientCount(): number {
    return this.#handedCount + this.#count
  }

  /** Adds a recipient without a contact. */
  add(lng: number, lat: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#count === BATCH_RECIPIENT_COUNT) this.flush()
    const row = this.#count++
    this.#lngs[row] = lng
    this.#lats[row] = lat
    this.#phoneOffsets[row + 1] = put(bytes, start, end, this.#phones, this.#phoneOffsets[row])
    this.#contactOffsets[row + 1] = this.#contactOffsets[row]
  }

  /** Gives the last recipient a contact. */
  setContact(bytes: Uint8Array, start: number, end: number): void {
    const row = this.#count - 1
    const at = this.#contactOffsets[row]
    this.#contactOffsets[row + 1] = put(bytes, start, end, this.#contacts, at)
  }

  /** Gives the last recipient its key; to be called for each where the source has keys. */
  setKey(bytes: Uint8Array, start: number, end: number): void {
    if (this.#keys === undefined) return
    const { offsets, texts } = this.#keys
    offsets[this.#count] = put(bytes, start, end, texts, offsets[this.#count - 1])
  }

  /** Hands over what there is; to be called after the last recipient. */
  flush(): void {
    const count = this.#count
    // One without recipients says that the source has keys.
    if (count === 0 && (this.#keys === undefined || this.#handedCount > 0)) return
    this.#sink.add({
      recipientCount: count,
      lngs: this.#lngs.subarray(0, count),
      lats: this.#lats.subarray(0, count),
      phoneOffsets: this.#phoneOffsets.subarray(0, count + 1),
      phones: this.#phones.subarray(0, this.#phoneOffsets[count]),
      contactOffsets: this.#contactOffsets.subarray(0, count + 1),
      contacts: this.#contacts.subarray(0, this.#contactOffsets[count]),
      ...(this.#keys && {
        keyOffsets: this.#keys.offsets.subarray(0, count + 1),
        keys: this.#keys.texts.subarray(0, this.#keys.offsets[count]),
      }),
    })
    this.#handedCount += count
    this.#count = 0
  }
}

const BATCH_RECIPIENT_COUNT = 4_096

/** Copies a short text, for which a loop beats set(), and returns where it ends. */
function put(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
): number {
  let to = targetStart
  for (let at = start; at < end; at++) target[to++] = bytes[at]
  return to
}
