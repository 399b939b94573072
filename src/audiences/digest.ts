/**
 * The digest of a frozen audience: SHA-256 over who is in it, in the order of its list. Recipients of a shard
 * file are named by their places in it, and the file by its own SHA-256, as the manifest of the snapshot has
 * it, so that whoever has the file has the people. Those who came since the snapshot are in it themselves:
 * their positions and phones. Neither the id of the snapshot nor that of the audience goes into it, and no
 * sequence. docs/audience-format.md says how to make it again.
 *
 * @module
 */
import { createHash, type Hash } from 'node:crypto'

/** What the digest needs of a shard. */
interface DigestedShard {
  readonly sourceId: number
  readonly sha256: string
  readonly runCount: number
}

/** The same of a delta. */
interface DigestedDelta {
  readonly sourceId: number
  readonly recipientCount: number
  readonly phoneBytes: number
}

export class AudienceDigest {
  readonly #hash: Hash = createHash('sha256').update('hickory-audience 1\n')

  /** @param runs  all of the shard */
  addShard({ sourceId, sha256, runCount }: DigestedShard, runs: Uint32Array): void {
    this.#hash.update(`${sourceId} ${sha256} ${runCount}\n`)
    this.#hash.update(runs)
  }

  /** Its rows follow, as they are in the file: `addRows`. */
  addDelta({ sourceId, recipientCount, phoneBytes }: DigestedDelta): void {
    this.#hash.update(`${sourceId} rows ${recipientCount} ${phoneBytes}\n`)
  }

  addRows(bytes: Uint8Array): void {
    this.#hash.update(bytes)
  }

  /** In hexadecimal digits. Nothing can be added behind it. */
  digest(): string {
    return this.#hash.digest('hex')
  }
}
