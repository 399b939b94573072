/**
 * Recipients of one source as columns, in the order in which they were imported.
 *
 * @module
 */

export interface RecipientColumns {
  readonly recipientCount: number
  /** Units of 1e-7 degree. */
  readonly lngs: Int32Array
  readonly lats: Int32Array
  /** Contact of each recipient, dense from 0 in order of first appearance. */
  readonly contacts: Uint32Array
  readonly contactCount: number
  /** Where each phone starts in `phones`; one more entry than recipients. */
  readonly phoneOffsets: Uint32Array
  readonly phones: Uint8Array
  /** Left out where they are not known. */
  readonly identities?: Identities | undefined
}

/**
 * What a change finds a recipient by: its key, or where the source has no keys its phone and its contact.
 * No answer needs it. Texts lie end to end: text `i` is at [offsets[i], offsets[i + 1]).
 */
export interface Identities {
  readonly contactOffsets: Uint32Array
  /** As they were imported; an empty text where a recipient has no contact. */
  readonly contactTexts: Uint8Array
  /** Null where the source has no keys. */
  readonly keys: { readonly offsets: Uint32Array; readonly texts: Uint8Array } | null
}

/** The same columns where every thread can read them: as they are, or copied if need be. */
export function inSharedMemory(columns: RecipientColumns): RecipientColumns {
  const { lngs, lats, contacts, phoneOffsets, phones, identities } = columns
  return {
    ...columns,
    lngs: shared(Int32Array, lngs),
    lats: shared(Int32Array, lats),
    contacts: shared(Uint32Array, contacts),
    phoneOffsets: shared(Uint32Array, phoneOffsets),
    phones: shared(Uint8Array, phones),
    identities: identities && sharedIdentities(identities),
  }
}

function sharedIdentities({ contactOffsets, contactTexts, keys }: Identities): Identities {
  return {
    contactOffsets: shared(Uint32Array, contactOffsets),
    contactTexts: shared(Uint8Array, contactTexts),
    keys: keys && {
      offsets: shared(Uint32Array, keys.offsets),
      texts: shared(Uint8Array, keys.texts),
    },
  }
}

function shared<T extends Int32Array | Uint32Array | Uint8Array>(
  Type: new (buffer: SharedArrayBuffer) => T,
  items: T,
): T {
  if (items.buffer instanceof SharedArrayBuffer) return items
  const copy = new Type(new SharedArrayBuffer(items.byteLength))
  copy.set(items)
  return copy
}
