/**
 * Files that machines of a cluster read from each other, piece by piece: the way that is left where the object store of
 * NATS does not answer. A server of it that had no room on its disk may not answer until it is started again.
 *
 * @module
 */
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import { BROKEN, type FileDigest, writeVerified } from './verified-file.js'

/** From an offset on, at most `limits.filePieceBytes`; undefined where the machine has no such file. */
export type AskPiece = (
  machine: string,
  file: FileDigest,
  offset: number,
) => Promise<Uint8Array | undefined>

interface PullOptions {
  /** Asked in this order. */
  readonly machines: readonly string[]
  readonly ask: AskPiece
  /** Called with what was written. */
  readonly onBytes: (byteCount: number) => void
}

/** Writes a file, which is on disk then; false where no machine gives it as it should be. */
export async function pullFile(
  file: FileDigest,
  path: string,
  { machines, ask, onBytes }: PullOptions,
): Promise<boolean> {
  for (const machine of machines) {
    try {
      await writeVerified(file, path, piecesFrom(machine, file, ask), onBytes)
      return true
    } catch (fault) {
      if (fault !== BROKEN) throw fault
    }
  }
  return false
}

/** @throws BROKEN  where the machine does not have it, or does not answer any more */
async function* piecesFrom(
  machine: string,
  file: FileDigest,
  ask: AskPiece,
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < file.byteLength; ) {
    const piece = await askAgain(() => ask(machine, file, offset))
    if (piece === undefined || piece.length === 0) throw BROKEN
    yield piece
    offset += piece.length
  }
}

/** A connection may be lost and be there again; undefined where it is not soon, or the answer is no. */
async function askAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  for (let attempt = 1; attempt <= limits.filePieceTryCount; attempt++) {
    try {
      return await ask()
    } catch {
      await sleep(limits.natsRetryMs)
    }
  }
  return undefined
}

/** @throws  what the disk says */
export async function readPiece(path: string, offset: number): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const piece = new Uint8Array(limits.filePieceBytes)
    const { bytesRead } = await file.read(piece, 0, piece.length, offset)
    return piece.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
