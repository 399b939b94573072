/**
 * How another thread hands batches to the thread of changes, and follows what comes to a snapshot.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { OVERLOADED, ServiceError } from '../errors.js'
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { recordBytes } from '../journal/record.js'
import { limits } from '../limits.js'
import type { Increment } from '../shard/delta/increment.js'
import { callsOver, handingOver } from '../threads/calls.js'
import type { ChangeCalls, FollowerCalls } from './messages.js'
import { Waiting } from './waiting.js'

interface ChangesClient {
  /**
   * Resolves when the batch is on disk, or was there before. Its memory is another thread's then.
   *
   * @throws ServiceError  as a rejection
   */
  append(batch: PreparedBatch): Promise<{ readonly outcome: BatchOutcome }>
  /** How many deletes of a batch that was written found no recipient; undefined where that is not known in time. */
  absentCountOf(sequence: number): Promise<number | undefined>
  readonly follow: FollowIncrements
}

/** What leads to the thread of changes, as it crosses threads. */
export interface ChangePort {
  readonly port: MessagePort
  readonly waiting: Int32Array
}

/** Follows a snapshot that is attached. */
export type FollowIncrements = (
  snapshotId: string,
  onIncrement: (increment: Increment) => void,
) => FollowedIncrements

interface FollowedIncrements {
  /** Resolves when the follower has all that had come when it asked. */
  readonly level: Promise<void>
  stop(): void
}

/**
 * @param options.waitMs  how long a batch may take; `limits.changeBatchMs` by default
 * @param options.bounds  on batches that wait; those of `limits` by default
 */
export function changesClient(
  { port, waiting: memory }: ChangePort,
  options: {
    readonly waitMs?: number
    readonly bounds?: ConstructorParameters<typeof Waiting>[1]
  } = {},
): ChangesClient {
  const waiting = new Waiting(memory, options.bounds)
  const followers = new Map<string, (increments: readonly Increment[]) => void>()
  const own: FollowerCalls = {
    increments: (snapshotId, increments) => followers.get(snapshotId)?.(increments),
  }
  const { tell, askWithin } = callsOver<ChangeCalls>(port, own)
  port.unref()
  const late = () => new ServiceError('Unavailable', LATE)
  const ask = askWithin(options.waitMs ?? limits.changeBatchMs, late)
  const askAbsent = askWithin(limits.absentCountMs, () => new Error('late'))
  return {
    async append(batch) {
      // The thread takes it off again, also where its answer comes too late.
      if (!waiting.enter(recordBytes(batch))) throw OVERLOADED
      const handed = handingOver(batch, [batch.content.buffer as ArrayBuffer])
      const { outcome, isFull, mayBeStored } = await ask.append(handed)
      if (isFull) throw new ServiceError('Overloaded', FULL)
      if (mayBeStored) throw new ServiceError('Unavailable', UNKNOWN)
      if (outcome === undefined) throw new ServiceError('Unavailable', NOT_STORED)
      return { outcome }
    },
    absentCountOf: (sequence) => askAbsent.absentCountOf(sequence).catch(() => undefined),
    follow(snapshotId, onIncrement) {
      const level = new Promise<void>((resolve) => {
        followers.set(snapshotId, (increments) => {
          for (const increment of increments) onIncrement(increment)
          resolve()
        })
      })
      tell.follow(snapshotId)
      return {
        level,
        stop() {
          followers.delete(snapshotId)
          tell.ignore(snapshotId)
        },
      }
    },
  }
}

const LATE =
  'the disk is slow: the batch may still be stored, so send it again with the same batchId'
const FULL =
  'there are as many changes since the last snapshot as may be, and a new one is being made: send the batch again later'
const UNKNOWN =
  'the cluster did not take the batch in time, and it may be stored all the same: send it again with the same batchId'
const NOT_STORED = 'the batch could not be stored; the log of the service says why'
