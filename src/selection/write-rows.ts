/**
 * Writes the recipients of a list piece by piece. While the client keeps up, pieces are large and
 * the next ones are encoded as one is sent. While the client is slow, nothing is encoded, so only one
 * small piece waits.
 *
 * @module
 */
import type { ByteSink } from '../format/answer.js'
import { limits } from '../limits.js'
import type { Caller, EncodedRows, QueryRunner } from '../pool/tasks.js'
import type { RowFormat } from '../shard/rows/row-format.js'
import type { ShardRuns } from './merge.js'
import { type Piece, piecesOf } from './pieces.js'
import { RunCursor } from './run-cursor.js'

/**
 * @param shards  whose recipients are written, in order, until nobody takes them any more
 * @param deadlineMs  of all pieces; if undefined, each piece has the time of a request, however long the
 *   list is
 * @param onRows  told how many recipients were written, piece by piece
 */
export async function writeRows(
  runner: QueryRunner,
  shards: readonly ShardRuns[],
  format: RowFormat,
  sink: ByteSink,
  deadlineMs?: number,
  onRows?: (count: number) => void,
): Promise<void> {
  let waiting: WaitingPiece[] = []
  let easyCount = EASY_WRITE_COUNT
  let easyBytes = 0
  const pieceRowCount = () =>
    easyBytes < limits.keptUpBytes ? limits.rowsPerFirstChunkCount : limits.rowsPerChunkCount
  const pieces = piecesOf(shards, pieceRowCount)
  const encode = ({ shardIndex, runs }: ShardRuns) => {
    // What was cut for a client that kept up may now be too much.
    const next = new RunCursor(runs).peek(pieceRowCount())
    const task = { kind: 'encode', shardIndex, runs: next, format } as const
    return runner.run<'encode'>(task, readerOf(sink, deadlineMs))
  }
  let skippedBytes = commaBytes(format)
  try {
    // Looked at before anything is asked for: who has gone is refused, and that is no fault.
    while (!sink.gone) {
      const wantedCount = easyCount < EASY_WRITE_COUNT ? 1 : limits.piecesAheadCount
      waiting = ahead(waiting, pieces, wantedCount, encode)
      const piece = waiting.shift()
      if (piece === undefined) return
      const rest = new RunCursor(piece.runs)
      while (!rest.isAtEnd) {
        const rows = await (piece.encoded ?? encode({ ...piece, runs: rest.peek(piece.rowCount) }))
        piece.encoded = undefined
        rest.skip(rows.rowCount)
        // Before the write, which may be the end of the answer.
        if (!sink.gone) onRows?.(rows.rowCount)
        const hasRoom = sink.write(rows.bytes.subarray(skippedBytes))
        rows.release()
        skippedBytes = 0
        easyCount++
        easyBytes += rows.bytes.length
        if (!hasRoom) {
          easyCount = 0
          easyBytes = 0
          // A list must not hold memory for as long as its client takes.
          for (const each of waiting) giveUp(each)
          await sink.drained()
        }
        if (sink.gone) return
      }
    }
  } finally {
    for (const each of waiting) giveUp(each)
  }
}

/** Bytes of the comma that each row of a list begins with, and that the first must not. */
export function commaBytes(format: RowFormat): number {
  if (format.kind === 'geojson') return format.isContinued ? 0 : 1
  return 'prefix' in format ? 0 : 1
}

/** Whoever waits for pieces of a list, as the pool sees them. */
export function readerOf(
  client: { readonly gone: boolean },
  deadlineMs: number = performance.now() + limits.requestMs,
): Caller {
  return {
    deadlineMs,
    get gone() {
      return client.gone
    },
    whenOver: () => {},
  }
}

/** Writes without having to wait, after which a client is taken to keep up. */
const EASY_WRITE_COUNT = 8

interface WaitingPiece extends Piece {
  /** Undefined while nobody works on it. */
  encoded: Promise<EncodedRows> | undefined
}

/** As many pieces as are wanted, the first ones that wait, all of them being encoded. */
function ahead(
  waiting: WaitingPiece[],
  pieces: Generator<Piece, undefined>,
  wantedCount: number,
  encode: (piece: Piece) => Promise<EncodedRows>,
): WaitingPiece[] {
  while (waiting.length < wantedCount) {
    const { value, done } = pieces.next()
    if (done) break
    waiting.push({ ...value, encoded: undefined })
  }
  for (const piece of waiting.slice(0, wantedCount)) {
    if (piece.encoded !== undefined) continue
    piece.encoded = encode(piece)
    // Whoever waits for an earlier piece does not see it fail.
    piece.encoded.catch(() => {})
  }
  return waiting
}

function giveUp(piece: WaitingPiece): void {
  piece.encoded?.then(
    (rows) => rows.release(),
    () => {},
  )
  piece.encoded = undefined
}
