/**
 * Loads a snapshot on a thread of its own: to verify one takes long pieces of work, and the main
 * thread has connections to hand out meanwhile.
 *
 * @module
 */
import { Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { Room } from '../shard/arena.js'
import { marksIn } from './shard-file.js'
import type { Snapshot } from './snapshot.js'

/** What the thread is born with. */
export interface LoadTask {
  readonly dataDirectory: string
  readonly id: string
  /** One for each file. */
  readonly rooms: readonly Room[]
}

/** What it says in the end. */
export type LoadOutcome = { readonly snapshot: Snapshot } | { readonly fault: string }

/**
 * Settles when the thread has ended, so that it touches the rooms no more.
 *
 * @param workerUrl  of the compiled workers/load.ts
 * @param stopping  to give up soon
 * @throws OperatorError  `Failed`, whatever is wrong
 */
export async function loadOnThread(
  workerUrl: URL,
  task: LoadTask,
  stopping: AbortSignal,
): Promise<Snapshot> {
  const worker = new Worker(workerUrl, { workerData: task })
  // Told, not ended: Node.js aborts the process when a thread is ended while it loads its modules.
  const stop = () => worker.postMessage('stop')
  stopping.addEventListener('abort', stop)
  if (stopping.aborted) stop()
  const outcome = await new Promise<LoadOutcome>((resolve) => {
    let last: LoadOutcome = { fault: 'the thread that loads it ended early' }
    worker.once('message', (message: LoadOutcome) => {
      last = message
    })
    worker.once('error', ({ message }: Error) => {
      last = { fault: message }
    })
    worker.once('exit', () => resolve(last))
  })
  stopping.removeEventListener('abort', stop)
  if ('fault' in outcome) throw new OperatorError('Failed', outcome.fault)
  return inRooms(outcome.snapshot, task.rooms)
}

/** What came over is of the same bytes, but not the objects that were sent. */
function inRooms({ shards, ...rest }: Snapshot, rooms: readonly Room[]): Snapshot {
  const placed = shards.map((shard, at) => {
    const { arena, bytes } = rooms[at]
    const image = bytes.subarray(0, shard.image.length)
    const marks = marksIn(rooms[at], image.length, shard.recipientCount)
    return { ...shard, arena, image, marks }
  })
  return { ...rest, shards: placed }
}
