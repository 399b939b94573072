/**
 * Where a front thread hands in batches of changes.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { OVERLOADED, ServiceError } from '../errors.js'
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { recordBytes } from '../journal/record.js'
import { limits } from '../limits.js'
import { Questions } from '../questions.js'
import type { BatchReply, FrontMessage, LiveMessage } from './messages.js'
import { Waiting } from './waiting.js'

interface ChangeDesk {
  /**
   * Resolves when the batch is on disk, or was there before. Its memory is another thread's then.
   *
   * @throws ServiceError  as a rejection
   */
  append(batch: PreparedBatch): Promise<{ readonly outcome: BatchOutcome }>
  /** How many deletes of a batch that was written found nobody; undefined where that is not known in time. */
  absentCountOf(sequence: number): Promise<number | undefined>
}

/** What leads to the thread of changes, as it crosses threads. */
export interface ChangePort {
  readonly port: MessagePort
  readonly waiting: Int32Array
}

/**
 * @param options.waitMs  how long a batch may take; `limits.changeBatchMs` unless given
 * @param options.bounds  on batches that wait; those of `limits` unless given
 */
export function changeDesk(
  { port, waiting: memory }: ChangePort,
  options: {
    readonly waitMs?: number
    readonly bounds?: ConstructorParameters<typeof Waiting>[1]
  } = {},
): ChangeDesk {
  const waiting = new Waiting(memory, options.bounds)
  const questions = new Questions<BatchReply>()
  const absent = new Questions<number | undefined>()
  port.on('message', (message: LiveMessage) => {
    if (message.kind === 'reply') questions.settle(message.number, message)
    else if (message.kind === 'absent') absent.settle(message.number, message.count)
  })
  port.unref()
  const patience = {
    waitMs: options.waitMs ?? limits.changeBatchMs,
    fault: () => new ServiceError('Unavailable', LATE),
  }
  return {
    async append(batch) {
      // The thread takes it off again, also where nobody waits for its answer any more.
      if (!waiting.enter(recordBytes(batch))) throw OVERLOADED
      const send = (number: number) =>
        port.postMessage({ kind: 'batch', number, batch } satisfies FrontMessage, [
          batch.content.buffer as ArrayBuffer,
        ])
      const { outcome, isFull, mayBeStored } = await questions.ask(send, patience)
      if (isFull) throw new ServiceError('Overloaded', FULL)
      if (mayBeStored) throw new ServiceError('Unavailable', UNKNOWN)
      if (outcome === undefined) throw new ServiceError('Unavailable', NOT_STORED)
      return { outcome }
    },
    absentCountOf(sequence) {
      const send = (number: number) =>
        port.postMessage({ kind: 'absent', number, sequence } satisfies FrontMessage)
      const late = { waitMs: limits.absentCountMs, fault: () => new Error('late') }
      return absent.ask(send, late).catch(() => undefined)
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
