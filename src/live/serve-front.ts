/**
 * What one front, or a thread that makes digests, asks the thread of changes.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Increment } from '../shard/delta/increment.js'
import type { AttachedSnapshot } from './attached-snapshot.js'
import type { BatchOrder, FrontMessage, IncrementNews } from './messages.js'

type Listened = Pick<AttachedSnapshot, 'listen' | 'ignore'>

/**
 * @param attached  by id
 * @param take  takes a batch
 */
export function serveFront(
  port: MessagePort,
  attached: ReadonlyMap<string, Listened>,
  take: (order: BatchOrder) => void,
): void {
  const listeners = new Map<string, (increments: readonly Increment[]) => void>()
  const ignore = (snapshotId: string) => {
    const before = listeners.get(snapshotId)
    if (before !== undefined) attached.get(snapshotId)?.ignore(before)
    listeners.delete(snapshotId)
  }
  port.on('message', (message: FrontMessage) => {
    if (message.kind === 'batch') return take(message)
    const { snapshotId } = message
    ignore(snapshotId)
    if (message.kind === 'ignore') return
    const own = attached.get(snapshotId)
    // Fronts follow what is attached. A thread that makes digests may be late, and is ended then.
    if (own === undefined) return
    const listener = (increments: readonly Increment[]) =>
      port.postMessage({ kind: 'increments', snapshotId, increments } satisfies IncrementNews)
    listeners.set(snapshotId, listener)
    own.listen(listener)
  })
  // A thread that is ended says nothing.
  port.on('close', () => {
    for (const snapshotId of [...listeners.keys()]) ignore(snapshotId)
  })
}
