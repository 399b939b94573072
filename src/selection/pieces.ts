/**
 * The recipients of a list in parts that a query worker gets at a time.
 *
 * @module
 */
import { recipientCountOf } from '../shard/runs.js'
import type { ShardRuns } from './merge.js'
import { RunCursor } from './run-cursor.js'

export interface Piece extends ShardRuns {
  readonly rowCount: number
}

/** @param pieceRowCount  rows of the next piece at most */
export function* piecesOf(
  shards: readonly ShardRuns[],
  pieceRowCount: () => number,
): Generator<Piece, undefined> {
  for (const { shardIndex, runs } of shards) {
    const cursor = new RunCursor(runs)
    while (!cursor.isAtEnd) {
      const next = cursor.peek(pieceRowCount())
      const rowCount = recipientCountOf(next)
      yield { shardIndex, runs: next, rowCount }
      cursor.skip(rowCount)
    }
  }
}
