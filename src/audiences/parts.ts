/**
 * What an audience is read from: shard files of its snapshot, and its own file, in the order of the list.
 *
 * @module
 */
import type { AudienceName } from '../snapshot/retention/audience-names.js'
import { type AudienceHeader, listOrder } from './file.js'
import type { RowsPlace } from './messages.js'

export interface AudiencePart {
  readonly sourceId: number
  readonly recipientCount: number
  readonly place: RowsPlace
  /** Who is in the audience, by the indexes that recipients have at this place. */
  readonly runs: Uint32Array
}

/** @param runs  of each shard of the header */
export function partsOf(
  name: AudienceName,
  header: Pick<AudienceHeader, 'shards' | 'deltas'>,
  runs: readonly Uint32Array[],
): AudiencePart[] {
  const parts: AudiencePart[] = []
  let shardCount = 0
  for (const { kind, item } of listOrder(header)) {
    const { sourceId, recipientCount } = item
    if (kind === 'delta') {
      const everybody = Uint32Array.of(0, recipientCount)
      parts.push({ sourceId, recipientCount, place: { audience: name, sourceId }, runs: everybody })
      continue
    }
    const { file, byteLength, headerCrc32 } = item
    const place = { snapshotId: name.snapshotId, file, byteLength, headerCrc32 }
    parts.push({ sourceId, recipientCount, place, runs: runs[shardCount++] })
  }
  return parts
}
