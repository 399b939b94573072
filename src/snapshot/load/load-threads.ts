/**
 * Loads the files of a snapshot on several threads, each straight into its room. To verify one takes
 * long pieces of work, and the main thread has connections to hand out meanwhile.
 *
 * @module
 */

import type { Repeats } from '../../shard/duplicates/find-repeats.js'
import type { ShardImage } from '../../shard/layout.js'
import type { ContactUse } from '../../shard/ties/contact-use.js'
import { startTaskThreads } from '../../threads/tasks.js'
import type { OnRead } from '../format/blocks.js'
import {
  type Elsewhere,
  givenUp,
  type LoadPiece,
  type LoadRunner,
  loadElsewhere,
  loadRepeats,
  loadShard,
  note,
  tie,
} from './load-piece.js'

/** The message that starts a thread. */
interface LoadTask {
  readonly piece: LoadPiece
  /** One word of shared memory: not zero to give up soon. */
  readonly stopping: Int32Array
}

type LoadResult = ShardImage | Elsewhere | Repeats | ContactUse | number

/**
 * @param workerUrl  of the compiled workers/load.ts
 * @param stopping  to give up soon
 */
export function runOnThreads(
  workerUrl: URL,
  threadCount: number,
  onRead: OnRead,
  stopping?: AbortSignal,
): LoadRunner {
  const threads = startTaskThreads<LoadTask, LoadResult, number>(workerUrl, threadCount, onRead)
  const isStopping = new Int32Array(new SharedArrayBuffer(4))
  const stop = () => void Atomics.store(isStopping, 0, 1)
  stopping?.addEventListener('abort', stop)
  if (stopping?.aborted) stop()
  const run = (piece: LoadPiece) => threads.run({ piece, stopping: isStopping })
  return {
    threadCount,
    loadShard: (piece) => run(piece) as Promise<ShardImage>,
    loadElsewhere: (piece) => run(piece) as Promise<Elsewhere>,
    loadRepeats: (piece) => run(piece) as Promise<Repeats>,
    note: (piece) => run(piece) as Promise<ContactUse>,
    tie: (piece) => run(piece) as Promise<number>,
    async close() {
      stopping?.removeEventListener('abort', stop)
      stop()
      await threads.close()
    },
  }
}

/** Does what a thread is given. */
export async function runLoadTask(
  { piece, stopping }: LoadTask,
  onRead: OnRead,
): Promise<LoadResult> {
  const onPiece = (bytes: number) => {
    if (Atomics.load(stopping, 0) !== 0) throw givenUp()
    if (bytes > 0) onRead(bytes)
  }
  onPiece(0)
  if (piece.kind === 'note') return note(piece)
  if (piece.kind === 'tie') return tie(piece)
  if (piece.kind === 'elsewhere') return await loadElsewhere(piece, onPiece)
  return await (piece.kind === 'shard' ? loadShard(piece, onPiece) : loadRepeats(piece, onPiece))
}
