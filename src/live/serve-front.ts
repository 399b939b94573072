/**
 * What the thread of changes does for one front, or for a thread that makes digests.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Increment } from '../shard/delta/increment.js'
import { callsOver } from '../threads/calls.js'
import type { AbsentCounts } from './absent-counts.js'
import type { AttachedSnapshot } from './attached-snapshot.js'
import type { ChangeCalls, FollowerCalls } from './messages.js'

type Listened = Pick<AttachedSnapshot, 'listen' | 'ignore'>

/**
 * @param attached  by id
 * @param absent  undefined where it is not known
 */
export function serveFront(
  port: MessagePort,
  attached: ReadonlyMap<string, Listened>,
  append: ChangeCalls['append'],
  absent: AbsentCounts | undefined,
): void {
  const listeners = new Map<string, (increments: readonly Increment[]) => void>()
  const ignore = (snapshotId: string) => {
    const before = listeners.get(snapshotId)
    if (before !== undefined) attached.get(snapshotId)?.ignore(before)
    listeners.delete(snapshotId)
  }
  const own: ChangeCalls = {
    append,
    absentCountOf: (sequence) =>
      new Promise((resolve) => {
        if (absent === undefined) resolve(undefined)
        else absent.ask(sequence, resolve)
      }),
    follow(snapshotId) {
      ignore(snapshotId)
      const snapshot = attached.get(snapshotId)
      // Fronts follow what is attached. A thread that makes digests may be late, and is ended then.
      if (snapshot === undefined) return
      const listener = (increments: readonly Increment[]) => tell.increments(snapshotId, increments)
      listeners.set(snapshotId, listener)
      snapshot.listen(listener)
    },
    ignore,
  }
  const { tell } = callsOver<FollowerCalls>(port, own)
  // A thread that is ended says nothing.
  port.on('close', () => {
    for (const snapshotId of [...listeners.keys()]) ignore(snapshotId)
  })
}
