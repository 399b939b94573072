/**
 * Where the journal goes on from a snapshot.
 *
 * @module
 */
import type { SnapshotSource } from '../snapshot/snapshot.js'

/** The last batch of which all changes are in the snapshot, whatever their source. */
export function baseSequenceOf(
  sources: readonly Pick<SnapshotSource, 'appliedSequence'>[],
): number {
  if (sources.length === 0) return 0
  return Math.min(...sources.map(({ appliedSequence = 0 }) => appliedSequence))
}
