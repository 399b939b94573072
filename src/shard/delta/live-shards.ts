/**
 * The shards of a snapshot and what came since, at any moment since then. Behind the shards of each source
 * comes its delta, which may be empty.
 *
 * Columns and packs are always those of the newest moment. Of an earlier one only the masks are others: who
 * came later, and who was gone, is beyond them. So a moment stays what it was while others come, and costs
 * nothing until it is asked for.
 *
 * @module
 */
import type { Shard } from '../layout.js'
import type { Mask } from '../mask.js'
import { DeltaPart } from './delta-part.js'
import type { ChangedShards } from './increment.js'
import { PackRoom } from './pack-room.js'
import { type LivePart, SnapshotPart } from './snapshot-part.js'

export class LiveShards {
  readonly #parts: readonly LivePart[]
  readonly #bases: readonly SnapshotPart[]
  readonly #deltas: readonly DeltaPart[]
  readonly #packRoom = new PackRoom()

  /**
   * @param shards  of the snapshot, by source
   * @param sourceIds  all of the snapshot, in its order
   */
  constructor(shards: readonly Shard[], sourceIds: readonly number[]) {
    this.#bases = shards.map((shard) => new SnapshotPart(shard))
    this.#deltas = sourceIds.map((id) => new DeltaPart(id))
    this.#parts = withDeltas<LivePart>(this.#bases, this.#deltas)
  }

  add({ shards, deltas }: ChangedShards): void {
    for (const each of shards) this.#bases[each.shardIndex].add(each)
    for (const each of deltas) this.#deltas[each.sourceIndex].add(each)
    this.#placePacks()
  }

  #placePacks(): void {
    const placed = this.#packRoom.layOut(this.#deltas.flatMap(({ packs }) => packs))
    let start = 0
    for (const delta of this.#deltas) {
      const end = start + delta.packs.length
      delta.place(placed.slice(start, end))
      start = end
    }
  }

  /**
   * A shard at a moment.
   *
   * @param mask  who is within a boundary; null where everybody is
   * @param withTies  whether it matters who shares a contact or a phone
   */
  at(index: number, moment: number, mask: Mask | null, withTies: boolean): Shard {
    return this.#parts[index].seen(moment, mask?.runs[index] ?? null, withTies)
  }

  /** All of a shard of the snapshot, gone or not; of a delta who came behind a moment, and perhaps others. */
  cameSince(index: number, moment: number): Shard {
    return this.#parts[index].cameSince(moment)
  }

  /** All recipients of a shard that ever were. */
  columnsAt(index: number): Shard {
    return this.#parts[index].columns()
  }
}

/** What there is for each shard of a snapshot, and for each delta, in the order of live shards. */
export function withDeltas<Part extends { readonly sourceId: number }>(
  ofShards: readonly Part[],
  ofDeltas: readonly Part[],
): Part[] {
  return ofDeltas.flatMap((delta) => [
    ...ofShards.filter(({ sourceId }) => sourceId === delta.sourceId),
    delta,
  ])
}
