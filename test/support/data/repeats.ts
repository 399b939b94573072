/**
 * Numbers that repeat, found in the plainest way.
 *
 * @module
 */

import type { Repeats } from '../../../src/shard/duplicates/find-repeats.js'
import { attachShard, type ShardImage } from '../../../src/shard/layout.js'

/** The shards of a snapshot, knowing which of their numbers repeat. */
export function withRepeats(shards: readonly ShardImage[]): ShardImage[] {
  const repeats = repeatsByMap(shards.map(numbersOf))
  return shards.map((shard, at) => ({ ...shard, repeats: repeats.shards[at] }))
}

/** @param shards  the numbers of each shard, in the order of its recipients */
export function repeatsByMap(shards: readonly (readonly string[])[]): Repeats {
  const counts = new Map<string, number>()
  for (const number of shards.flat()) counts.set(number, (counts.get(number) ?? 0) + 1)
  const ids = new Map<string, number>()
  const found = shards.map((numbers) => {
    const recipients = [...numbers.keys()].filter((at) => (counts.get(numbers[at]) ?? 0) > 1)
    for (const at of recipients) if (!ids.has(numbers[at])) ids.set(numbers[at], ids.size)
    return {
      recipients: Uint32Array.from(recipients),
      numberIds: Uint32Array.from(recipients, (at) => ids.get(numbers[at]) ?? 0),
    }
  })
  return { numberCount: ids.size, shards: found }
}

/** In the order of the shard; bytes that are no text come as what is no other text. */
export function numbersOf(shard: ShardImage): string[] {
  const { numbers, numberOffsets, recipientCount } = attachShard(shard)
  return Array.from({ length: recipientCount }, (_, at) =>
    Buffer.from(numbers.subarray(numberOffsets[at], numberOffsets[at + 1])).toString('latin1'),
  )
}
