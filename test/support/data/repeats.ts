/**
 * Phones that repeat, found in the plainest way.
 *
 * @module
 */

import type { Repeats } from '../../../src/shard/duplicates/find-repeats.js'
import { attachShard, type ShardImage } from '../../../src/shard/layout.js'
import { withPhoneTies } from './ties.js'

/** The shards of a snapshot, knowing which of their phones repeat. */
export function withRepeats(shards: readonly ShardImage[]): ShardImage[] {
  return withPhoneTies(shards, repeatsByMap(shards.map(phonesOf)))
}

/** @param shards  the phones of each shard, in the order of its recipients */
export function repeatsByMap(shards: readonly (readonly string[])[]): Repeats {
  const counts = new Map<string, number>()
  for (const phone of shards.flat()) counts.set(phone, (counts.get(phone) ?? 0) + 1)
  const ids = new Map<string, number>()
  const found = shards.map((phones) => {
    const recipients = [...phones.keys()].filter((at) => (counts.get(phones[at]) ?? 0) > 1)
    for (const at of recipients) if (!ids.has(phones[at])) ids.set(phones[at], ids.size)
    return {
      recipients: Uint32Array.from(recipients),
      phoneIds: Uint32Array.from(recipients, (at) => ids.get(phones[at]) ?? 0),
    }
  })
  return { phoneCount: ids.size, shards: found }
}

/** In the order of the shard; bytes that are no text come as what is no other text. */
export function phonesOf(shard: ShardImage): string[] {
  const { phones, phoneOffsets, recipientCount } = attachShard(shard)
  return Array.from({ length: recipientCount }, (_, at) =>
    Buffer.from(phones.subarray(phoneOffsets[at], phoneOffsets[at + 1])).toString('latin1'),
  )
}
