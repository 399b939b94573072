/**
 * Digests of who is there at a moment, by region, so that machines with the same snapshot can be compared: of each shard
 * of the snapshot that the machine holds its positions and phones as they lie in memory, and who of them is there; of
 * each source whoever came since, which every machine has.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { DeltaPart } from '../shard/delta/delta-part.js'
import type { ChangedShards } from '../shard/delta/increment.js'
import { SnapshotPart } from '../shard/delta/snapshot-part.js'
import {
  attachShard,
  hasColumns,
  type SectionName,
  type Shard,
  type ShardImage,
} from '../shard/layout.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { RowDigest } from '../store/digests.js'

/** Plain data. */
export interface RegionDigest {
  readonly sourceId: number
  /** Undefined of those who came since the snapshot, wherever they are. */
  readonly regionIndex: number | undefined
  /** Who is there; known of regions that other machines hold, too. */
  readonly recipientCount: number
  /** Hexadecimal digits; null where the machine does not hold the region. */
  readonly digest: string | null
  /** The machines that are to hold it, by the placement of the snapshot; undefined where every machine is. */
  readonly holders: readonly string[] | undefined
}

type Digested = Pick<Snapshot, 'sources' | 'shards' | 'holders'>

export class RegionDigests {
  readonly #snapshot: Digested
  readonly #parts: readonly SnapshotPart[]
  readonly #deltas: readonly DeltaPart[]
  /** Of the last increment. */
  moment = 0

  constructor(snapshot: Digested) {
    this.#snapshot = snapshot
    this.#parts = snapshot.shards.map((image) => new SnapshotPart(attachShard(image)))
    this.#deltas = snapshot.sources.map(({ id }) => new DeltaPart(id))
  }

  add({ moment, shards, deltas }: ChangedShards): void {
    for (const each of shards) this.#parts[each.shardIndex].add(each)
    for (const each of deltas) this.#deltas[each.sourceIndex].add(each)
    this.moment = moment
  }

  /**
   * One region after the other, each of which takes a while.
   *
   * @param moment  not later than that of the last increment
   */
  *at(moment: number): Generator<RegionDigest> {
    const { shards, holders } = this.#snapshot
    for (const [at, image] of shards.entries()) {
      const runs = runsOf(this.#parts[at].seen(moment, null, false))
      const { sourceId, regionIndex } = image
      yield {
        ...{ sourceId, regionIndex },
        recipientCount: countOf(runs),
        digest: hasColumns(image) ? digestOf(image, runs) : null,
        holders: holders?.[at],
      }
    }
    for (const delta of this.#deltas) yield ofDelta(delta.seen(moment, null))
  }
}

/** What answers are made of, but for what only tells who is the same: that differs by how a snapshot was loaded. */
const SECTIONS: readonly SectionName[] = ['index', 'numberOffsets', 'numbers']

function digestOf({ sections, image }: ShardImage, runs: Uint32Array): string {
  const hash = createHash('sha256')
  for (const { name, byteOffset, byteLength } of sections) {
    if (SECTIONS.includes(name)) hash.update(image.subarray(byteOffset, byteOffset + byteLength))
  }
  hash.update(new Uint8Array(runs.buffer, runs.byteOffset, runs.byteLength))
  return hash.digest('hex')
}

/** In whatever order they came. */
function ofDelta(seen: Shard): RegionDigest {
  const { sourceId, coords, phoneOffsets, phones } = seen
  const sum = new RowDigest()
  const runs = runsOf(seen)
  for (let run = 0; run < runs.length; run += 2) {
    for (let at = runs[run]; at < runs[run + 1]; at++) {
      const phone = Buffer.from(phones.subarray(phoneOffsets[at], phoneOffsets[at + 1]))
      sum.add('recipient', phone.toString('latin1'), `${coords[2 * at]} ${coords[2 * at + 1]}`)
    }
  }
  return {
    sourceId,
    regionIndex: undefined,
    recipientCount: countOf(runs),
    digest: String(sum),
    holders: undefined,
  }
}

function runsOf({ mask, recipientCount }: Shard): Uint32Array {
  return mask ?? Uint32Array.of(0, recipientCount)
}

function countOf(runs: Uint32Array): number {
  let count = 0
  for (let run = 0; run < runs.length; run += 2) count += runs[run + 1] - runs[run]
  return count
}
