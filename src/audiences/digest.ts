/**
 * The digest of a frozen audience: SHA-256 over which recipients of which shard files are in it, in the
 * order of its list. A shard file is named by its own SHA-256, as the manifest of the snapshot has it, so
 * that whoever has the file has the people; neither the id of the snapshot nor that of the audience goes
 * into it. docs/audience-format.md says how to make it again.
 *
 * @module
 */
import { createHash } from 'node:crypto'

/** What the digest needs of a shard. */
interface DigestedShard {
  readonly sourceId: number
  readonly sha256: string
  readonly runCount: number
}

/**
 * In hexadecimal digits.
 *
 * @param words  the runs of all shards, one shard behind the other
 */
export function audienceDigest(shards: readonly DigestedShard[], words: Uint32Array): string {
  const hash = createHash('sha256').update('hickory-audience 1\n')
  let at = 0
  for (const { sourceId, sha256, runCount } of shards) {
    hash.update(`${sourceId} ${sha256} ${runCount}\n`)
    hash.update(words.subarray(at, at + 2 * runCount))
    at += 2 * runCount
  }
  return hash.digest('hex')
}
