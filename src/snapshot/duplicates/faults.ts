/**
 * Whether the repeats of a snapshot agree with its shards.
 *
 * @module
 */
import type { Repeats } from '../../shard/duplicates/find-repeats.js'

/** @param shardCounts  recipients of each shard of the snapshot */
export function findRepeatsFault(
  { phoneCount, shards }: Repeats,
  shardCounts: readonly number[],
): string | undefined {
  if (shards.length !== shardCounts.length) {
    return `found repeats of ${shards.length} shards, expected ${shardCounts.length}`
  }
  const recipientCount = shards.reduce((sum, { recipients }) => sum + recipients.length, 0)
  if (2 * phoneCount > recipientCount) {
    return `found ${phoneCount} numbers of ${recipientCount} recipients, expected two of each`
  }
  // One bit for once, another for twice and more.
  const once = new Uint32Array(Math.ceil(phoneCount / 32))
  const twice = new Uint32Array(once.length)
  for (const [at, { recipients, phoneIds }] of shards.entries()) {
    const fault = findRecipientFault(recipients, shardCounts[at])
    if (fault !== undefined) return `${fault}, in shard ${at}`
    const idAt = tally(phoneIds, phoneCount, once, twice)
    if (idAt !== NONE) {
      return `found number ${phoneIds[idAt]}, expected less than ${phoneCount}, in shard ${at}`
    }
  }
  for (let id = 0; id < phoneCount; id++) {
    if (((twice[id >>> 5] >>> (id & 31)) & 1) === 0) return `found number ${id} once or never`
  }
  return undefined
}

function findRecipientFault(recipients: Uint32Array, shardCount: number): string | undefined {
  const at = indexOutOfOrder(recipients)
  if (at !== NONE) return `found recipient ${recipients[at]} behind ${recipients[at - 1]}`
  const last = recipients.at(-1) ?? 0
  if (recipients.length === 0 || last < shardCount) return undefined
  return `found recipient ${last}, expected less than ${shardCount}`
}

// Loops return where a fault is, as those in image-faults.ts do and for the same reason.

const NONE = -1

function indexOutOfOrder(values: Uint32Array): number {
  for (let at = 1; at < values.length; at++) if (values[at] <= values[at - 1]) return at
  return NONE
}

/** Counts ids, up to two of each; stops at the first that is not below `end`. */
function tally(ids: Uint32Array, end: number, once: Uint32Array, twice: Uint32Array): number {
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at]
    if (id >= end) return at
    const word = id >>> 5
    const bit = 1 << (id & 31)
    twice[word] |= once[word] & bit
    once[word] |= bit
  }
  return NONE
}

/**
 * How repeats differ from those that were found in the phones themselves, or undefined. The ids of
 * phones may be others, as long as they tell apart the same phones.
 */
export function findDifference(read: Repeats, found: Repeats): string | undefined {
  if (read.phoneCount !== found.phoneCount) {
    return `found ${read.phoneCount} numbers, expected ${found.phoneCount}`
  }
  const toFound = new Map<number, number>()
  const toRead = new Map<number, number>()
  for (const [at, { recipients, phoneIds }] of read.shards.entries()) {
    const expected = found.shards[at]
    const areSame =
      recipients.length === expected.recipients.length &&
      recipients.every((recipient, i) => recipient === expected.recipients[i])
    if (!areSame) return `found other recipients than those whose number repeats, in shard ${at}`
    for (const [i, id] of phoneIds.entries()) {
      const other = expected.phoneIds[i]
      if ((toFound.get(id) ?? other) !== other || (toRead.get(other) ?? id) !== id) {
        return `found one number for two, or two for one, in shard ${at}`
      }
      toFound.set(id, other)
      toRead.set(other, id)
    }
  }
  return undefined
}
