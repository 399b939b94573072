/**
 * Gives the shards of a snapshot what its phones say of repeats.
 *
 * @module
 */

import { findRepeats } from '../../../src/shard/duplicates/find-repeats.js'
import { lookHere } from '../../../src/shard/duplicates/shard-look.js'
import { attachShard } from '../../../src/shard/layout.js'
import type { Snapshot } from '../../../src/snapshot/snapshot.js'
import { withPhoneTies } from './ties.js'

export async function attachRepeats(snapshot: Snapshot): Promise<Snapshot> {
  const { shards } = snapshot
  const look = lookHere((at) => attachShard(shards[at]))
  const shardCounts = shards.map(({ recipientCount }) => recipientCount)
  const repeats = await findRepeats(shardCounts, look)
  return { ...snapshot, shards: withPhoneTies(shards, repeats) }
}
