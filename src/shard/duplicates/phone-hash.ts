/**
 * Hashes of phones, four bytes at a time. They only tell which phones may be the same.
 *
 * @module
 */

/** The phones of a shard, end to end: that of recipient `i` is at [phoneOffsets[i], phoneOffsets[i + 1]). */
export interface PhoneColumn {
  readonly phones: Uint8Array
  readonly phoneOffsets: Uint32Array
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Fills `hashes` with the hash of each phone, and `others` with a hash that is independent of it. */
export function hashPhones(
  { phones, phoneOffsets }: PhoneColumn,
  hashes: Uint32Array,
  others: Uint32Array,
): void {
  const view = viewOf(phones)
  const count = phoneOffsets.length - 1
  let start = phoneOffsets[0]
  for (let i = 0; i < count; i++) {
    const end = phoneOffsets[i + 1]
    hashes[i] = hashPhone(view, start, end)
    others[i] = otherHash(view, start, end)
    start = end
  }
}

/** The hash of the phone at [start, end). */
export function hashPhone(view: DataView, start: number, end: number): number {
  let hash = Math.imul(end - start, PRIME_A)
  if (end - start < 4) {
    for (let at = start; at < end; at++) hash = step(hash, view.getUint8(at))
    return mixed(hash)
  }
  const last = end - 4
  for (let at = start; at < last; at += 4) hash = step(hash, view.getUint32(at, true))
  // The rest is less than a word; the last four bytes hold it.
  return mixed(step(hash, view.getUint32(last, true)))
}

function otherHash(view: DataView, start: number, end: number): number {
  let hash = end - start
  if (end - start < 4) {
    for (let at = start; at < end; at++) hash = otherStep(hash, view.getUint8(at))
    return mixed(hash)
  }
  const last = end - 4
  for (let at = start; at < last; at += 4) hash = otherStep(hash, view.getUint32(at, true))
  return mixed(otherStep(hash, view.getUint32(last, true)))
}

const PRIME_A = 0x9e3779b1
const PRIME_B = 0x85ebca77
const PRIME_C = 0xc2b2ae3d

function step(hash: number, word: number): number {
  const rotated = (hash << 13) | (hash >>> 19)
  return Math.imul(rotated ^ word, PRIME_A)
}

function otherStep(hash: number, word: number): number {
  const rotated = (hash << 19) | (hash >>> 13)
  return Math.imul(rotated + word, PRIME_C)
}

/** Spreads what differs over all bits. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), PRIME_B)
  const twice = Math.imul(once ^ (once >>> 13), PRIME_A)
  return (twice ^ (twice >>> 16)) >>> 0
}
