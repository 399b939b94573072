/**
 * What came to snapshots since, as a front thread hears of it.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Increment } from '../shard/delta/increment.js'
import type { FrontMessage, LiveMessage } from './messages.js'

/** Hears of one snapshot. */
interface FollowedIncrements {
  /** Resolves when all is told that had come when it was asked for. */
  readonly level: Promise<void>
  stop(): void
}

export type FollowIncrements = (
  snapshotId: string,
  onIncrement: (increment: Increment) => void,
) => FollowedIncrements

/** @param port  to the thread of changes, where each snapshot that is followed is attached before */
export function incrementsFrom(port: MessagePort): FollowIncrements {
  const hearers = new Map<string, (increments: readonly Increment[]) => void>()
  port.on('message', (message: LiveMessage) => {
    if (message.kind === 'increments') hearers.get(message.snapshotId)?.(message.increments)
  })
  port.unref()
  const send = (message: FrontMessage) => port.postMessage(message)
  return (snapshotId, onIncrement) => {
    const level = new Promise<void>((resolve) => {
      hearers.set(snapshotId, (increments) => {
        for (const increment of increments) onIncrement(increment)
        resolve()
      })
    })
    send({ kind: 'follow', snapshotId })
    return {
      level,
      stop() {
        hearers.delete(snapshotId)
        send({ kind: 'ignore', snapshotId })
      },
    }
  }
}
