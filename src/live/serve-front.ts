/**
 * What one front, or a thread that makes digests, asks the thread of changes.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Increment } from '../shard/delta/increment.js'
import type { AbsentCounts } from './absent-counts.js'
import type { AttachedSnapshot } from './attached-snapshot.js'
import type { BatchOrder, FrontMessage, IncrementNews, LiveMessage } from './messages.js'

type Listened = Pick<AttachedSnapshot, 'listen' | 'ignore'>

/**
 * @param attached  by id
 * @param take  takes a batch
 * @param absent  undefined where it is not known
 */
export function serveFront(
  port: MessagePort,
  attached: ReadonlyMap<string, Listened>,
  take: (order: BatchOrder) => void,
  absent: AbsentCounts | undefined,
): void {
  const listeners = new Map<string, (increments: readonly Increment[]) => void>()
  const ignore = (snapshotId: string) => {
    const before = listeners.get(snapshotId)
    if (before !== undefined) attached.get(snapshotId)?.ignore(before)
    listeners.delete(snapshotId)
  }
  port.on('message', (message: FrontMessage) => {
    if (message.kind === 'batch') return take(message)
    if (message.kind === 'absent') {
      const reply = { kind: 'absent', number: message.number } as const
      if (absent === undefined) return port.postMessage(reply satisfies LiveMessage)
      return absent.ask(message.sequence, (count) =>
        port.postMessage({ ...reply, count } satisfies LiveMessage),
      )
    }
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
