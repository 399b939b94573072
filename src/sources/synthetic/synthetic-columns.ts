/**
 * Made-up recipients as the columns of a source, without a file in between: what
 * `hickory generate` writes and `hickory import` reads back, with the same options.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { limits } from '../../limits.js'
import type { RecipientColumns } from '../../shard/columns.js'
import {
  type SyntheticBatch,
  type SyntheticOptions,
  subscriberDigits,
  syntheticRecipients,
} from './synthetic.js'

/**
 * @param onProgress  called with the recipients made so far, some thousands apart
 * @throws OperatorError  `Usage` for a country without a city
 */
export function syntheticColumns(
  options: SyntheticOptions,
  onProgress?: (doneCount: number) => void,
): RecipientColumns {
  const { recipientCount } = options
  assert(recipientCount <= limits.sourceRecipientCount, 'one source holds them')
  const room = (byteLength: number) => new SharedArrayBuffer(byteLength)
  const lngs = new Int32Array(room(4 * recipientCount))
  const lats = new Int32Array(room(4 * recipientCount))
  const contacts = new Uint32Array(room(4 * recipientCount))
  const phoneOffsets = new Uint32Array(room(4 * (recipientCount + 1)))
  const phones = new Uint8Array(room(recipientCount * PHONE_BYTES_MAX))
  const contactOffsets = new Uint32Array(room(4 * (recipientCount + 1)))
  const contactTexts = new Uint8Array(room(recipientCount * CONTACT_BYTES_MAX))
  let doneCount = 0
  for (const batch of syntheticRecipients(options)) {
    lngs.set(batch.lngs, doneCount)
    lats.set(batch.lats, doneCount)
    contacts.set(batch.contacts, doneCount)
    putPhones(batch, phones, phoneOffsets, doneCount)
    putContacts(batch, contactTexts, contactOffsets, doneCount)
    doneCount += batch.recipientCount
    onProgress?.(doneCount)
  }
  return {
    recipientCount,
    lngs,
    lats,
    contacts,
    // Contacts come one after the other, so the last recipient has the last of them.
    contactCount: recipientCount === 0 ? 0 : contacts[recipientCount - 1] + 1,
    phoneOffsets,
    phones: phones.subarray(0, phoneOffsets[recipientCount]),
    identities: {
      contactOffsets,
      contactTexts: contactTexts.subarray(0, contactOffsets[recipientCount]),
      keys: null,
    },
  }
}

const PREFIX = new TextEncoder().encode('+999')
/** The prefix and 9 digits. */
const PHONE_BYTES_MAX = 13
const ZERO = 0x30
const LETTER_C = 0x63
/** The letter and up to 9 digits. */
const CONTACT_BYTES_MAX = 10

/** Writes the phones of a batch behind those of the `doneCount` recipients before it. */
function putPhones(
  batch: SyntheticBatch,
  phones: Uint8Array,
  phoneOffsets: Uint32Array,
  doneCount: number,
): void {
  let end = phoneOffsets[doneCount]
  for (let row = 0; row < batch.recipientCount; row++) {
    const { value, width } = subscriberDigits(batch.subscribers[row])
    phones.set(PREFIX, end)
    end += PREFIX.length + width
    let left = value
    for (let at = end - 1; at >= end - width; at--) {
      const tens = Math.floor(left / 10)
      phones[at] = ZERO + left - 10 * tens
      left = tens
    }
    phoneOffsets[doneCount + row + 1] = end
  }
}

/** Writes the texts of contacts, such as `c12`, behind those of the `doneCount` recipients before. */
function putContacts(
  batch: SyntheticBatch,
  texts: Uint8Array,
  offsets: Uint32Array,
  doneCount: number,
): void {
  let end = offsets[doneCount]
  for (let row = 0; row < batch.recipientCount; row++) {
    const digits = String(batch.contacts[row])
    texts[end++] = LETTER_C
    for (let at = 0; at < digits.length; at++) texts[end++] = digits.charCodeAt(at)
    offsets[doneCount + row + 1] = end
  }
}
