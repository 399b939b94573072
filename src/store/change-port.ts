/**
 * Changes on their way from a front thread to the main thread, which makes them, and back.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Change, ChangeOutcome } from './changes.js'

/**
 * Resolves when the change is on disk.
 *
 * @throws ServiceError
 */
export type MakeChange = (change: Change) => Promise<void>

interface ChangeRequest {
  readonly number: number
  readonly change: Change
}

interface ChangeReply {
  readonly number: number
  readonly outcome: ChangeOutcome
}

/** The main thread's end: makes every change that is asked for, in order. */
export function serveChanges(port: MessagePort, make: (change: Change) => ChangeOutcome): void {
  port.on('message', ({ number, change }: ChangeRequest) => {
    const reply: ChangeReply = { number, outcome: make(change) }
    port.postMessage(reply)
  })
  // Asked for by threads that have ends of their own.
  port.unref()
}

/**
 * The other end.
 *
 * @param waitMs  how long a change may take; `limits.storeChangeMs` unless given
 */
export function requestChanges(
  port: MessagePort,
  waitMs: number = limits.storeChangeMs,
): MakeChange {
  const waiting = new Map<number, (outcome: ChangeOutcome) => void>()
  let lastNumber = 0
  port.on('message', ({ number, outcome }: ChangeReply) => {
    waiting.get(number)?.(outcome)
    waiting.delete(number)
  })
  port.unref()
  return (change) =>
    new Promise((resolve, reject) => {
      const number = ++lastNumber
      const timer = setTimeout(() => {
        waiting.delete(number)
        reject(new ServiceError('Unavailable', LATE))
      }, waitMs)
      waiting.set(number, (outcome) => {
        clearTimeout(timer)
        try {
          resolve(settle(outcome))
        } catch (fault) {
          reject(fault)
        }
      })
      const request: ChangeRequest = { number, change }
      port.postMessage(request)
    })
}

/** @throws ServiceError  when the change was not made */
export function settle(outcome: ChangeOutcome): void {
  if (outcome.isMade) return
  throw new ServiceError(outcome.code, outcome.message, outcome.field)
}

const LATE = 'the disk is slow: the change may still be stored, so look before you send it again'
