/**
 * Changes on their way from a front thread to the main thread, which makes them, and back.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { Questions } from '../threads/calls.js'
import type { Change, ChangeOutcome, NotMade } from './changes.js'
import type { SuppressionChange, SuppressionsChanged } from './suppress.js'

/**
 * Resolves when the change is on disk.
 *
 * @throws ServiceError
 */
export type MakeChange = (change: Change) => Promise<void>

/** A change to a suppression list, by which every service of the data directory answers now. */
interface SuppressionsTaken extends SuppressionsChanged, PhoneHits {}

/** Whom phones are of, among the recipients of the snapshot that is served, in a scope. */
export interface PhoneHits {
  /** Recipients that have one of the phones. */
  readonly recipientCount: number
  /** Left out where it is not known, as where other machines hold some of the recipients. */
  readonly unmatched?: UnmatchedPhones
}

/** Phones that no recipient has. */
export interface UnmatchedPhones {
  /** Different phones, with those that recipients have. */
  readonly phoneCount: number
  readonly unmatchedCount: number
  /** How many unmatched phones recipients have in another notation; those of a sample, if it is one. */
  readonly otherwiseWritten: readonly { readonly notation: string; readonly count: number }[]
  /** Unmatched phones that were tried in other notations. */
  readonly triedCount: number
}

/**
 * Resolves when the change is on disk and every service of the data directory answers by it.
 *
 * @throws ServiceError
 */
export type TakeSuppressions = (change: SuppressionChange) => Promise<SuppressionsTaken>

export type TakenOutcome = { readonly isMade: true; readonly taken: SuppressionsTaken } | NotMade

/** Who makes changes. */
interface ChangeMaker {
  /** Never rejects. */
  makeChange(change: Change): ChangeOutcome | Promise<ChangeOutcome>
  /** Never rejects. */
  takeSuppressions(change: SuppressionChange): Promise<TakenOutcome>
}

interface ChangeRequest {
  readonly number: number
  readonly change: Change | SuppressionChange
}

interface ChangeReply {
  readonly number: number
  readonly outcome: ChangeOutcome | TakenOutcome
}

/** The main thread's end: makes every change that is asked for, in order. */
export function serveChanges(port: MessagePort, maker: ChangeMaker): void {
  port.on('message', async ({ number, change }: ChangeRequest) => {
    const isOfLists = change.kind === 'suppressions'
    const outcome = await (isOfLists ? maker.takeSuppressions(change) : maker.makeChange(change))
    const reply: ChangeReply = { number, outcome }
    port.postMessage(reply)
  })
  // Asked for by threads that have ends of their own.
  port.unref()
}

/** The other end. */
export interface ChangeRequests {
  readonly change: MakeChange
  readonly suppress: TakeSuppressions
}

/** @param waitMs  how long a change may take to be on disk; `limits.storeChangeMs` unless given */
export function requestChanges(
  port: MessagePort,
  waitMs: number = limits.storeChangeMs,
): ChangeRequests {
  const questions = new Questions<ChangeReply['outcome']>()
  port.on('message', ({ number, outcome }: ChangeReply) => questions.settle(number, outcome))
  port.unref()

  function ask(change: Change | SuppressionChange, ms: number): Promise<ChangeReply['outcome']> {
    const fault = () => new ServiceError('Unavailable', LATE)
    const send = (number: number) => port.postMessage({ number, change } satisfies ChangeRequest)
    return questions.ask(send, { waitMs: ms, fault })
  }

  return {
    change: async (change) => settle(await ask(change, waitMs)),
    async suppress(change) {
      return settleTaken((await ask(change, waitMs + limits.suppressionTakeMs)) as TakenOutcome)
    },
  }
}

/** @throws ServiceError  when the change was not made */
export function settleTaken(outcome: TakenOutcome): SuppressionsTaken {
  if (outcome.isMade) return outcome.taken
  throw new ServiceError(outcome.code, outcome.message, outcome.field)
}

/** @throws ServiceError  when the change was not made */
export function settle(outcome: ChangeOutcome): void {
  if (outcome.isMade) return
  throw new ServiceError(outcome.code, outcome.message, outcome.field)
}

const LATE = 'the disk is slow: the change may still be stored, so look before you send it again'
