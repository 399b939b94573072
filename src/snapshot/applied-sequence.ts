/**
 * Where the journal goes on from a snapshot.
 *
 * @module
 */
import type { SnapshotSource } from './snapshot.js'

/** The last batch of which all changes are in the snapshot, whatever their source. */
export function baseSequenceOf(
  sources: readonly Pick<SnapshotSource, 'appliedSequence'>[],
): number {
  if (sources.length === 0) return 0
  return Math.min(...sources.map(({ appliedSequence = 0 }) => appliedSequence))
}

/** The last batch of which any change is in the snapshot. */
export function appliedSequenceOf(
  sources: readonly Pick<SnapshotSource, 'appliedSequence'>[],
): number {
  return Math.max(0, ...sources.map(({ appliedSequence = 0 }) => appliedSequence))
}
