/**
 * Changes on their way from a front thread to the main thread, which makes them, and back.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { callsOver } from '../threads/calls.js'
import type { Change, ChangeOutcome, NotMade } from './changes.js'
import type { SuppressionChange, SuppressionsChanged } from './suppressions.js'

/**
 * Resolves when the change is on disk.
 *
 * @throws ServiceError
 */
export type MakeChange = (change: Change) => Promise<void>

/** A change to a suppression list that every service of the data directory has applied. */
interface AppliedSuppressions extends SuppressionsChanged, PhoneHits {}

/** Recipients of the served snapshot that have one of the phones, in a scope. */
export interface PhoneHits {
  readonly recipientCount: number
  /** Left out if other machines hold some of the recipients. */
  readonly unmatched?: UnmatchedPhones
}

/** Phones that no recipient has. */
export interface UnmatchedPhones {
  /** Different phones of the list, matched or not. */
  readonly phoneCount: number
  readonly unmatchedCount: number
  /** How many of the tried phones recipients have in another notation. */
  readonly otherwiseWritten: readonly { readonly notation: string; readonly count: number }[]
  /** Unmatched phones that were tried in other notations. */
  readonly triedCount: number
}

/**
 * Resolves when the change is on disk and every service of the data directory has applied it.
 *
 * @throws ServiceError
 */
export type ChangeSuppressions = (change: SuppressionChange) => Promise<AppliedSuppressions>

export type AppliedOutcome =
  | { readonly isMade: true; readonly applied: AppliedSuppressions }
  | NotMade

/** Neither rejects. */
interface ChangeMaker {
  makeChange(change: Change): ChangeOutcome | Promise<ChangeOutcome>
  changeSuppressions(change: SuppressionChange): Promise<AppliedOutcome>
}

/** The main thread's end: makes every change, in order. */
export function serveChanges(port: MessagePort, maker: ChangeMaker): void {
  callsOver(port, maker)
  // The threads at the other ends keep the process alive.
  port.unref()
}

/** The other end. */
export interface ChangeRequests {
  readonly change: MakeChange
  readonly suppress: ChangeSuppressions
}

export function requestChanges(port: MessagePort): ChangeRequests {
  const { askWithin } = callsOver<ChangeMaker>(port)
  port.unref()
  const late = () => new ServiceError('Unavailable', LATE)
  const ask = askWithin(limits.storeChangeMs, late)
  const askAll = askWithin(limits.storeChangeMs + limits.suppressionTakeMs, late)
  return {
    change: async (change) => settle(await ask.makeChange(change)),
    suppress: async (change) => settleApplied(await askAll.changeSuppressions(change)),
  }
}

/** @throws ServiceError  if the change was not made */
export function settleApplied(outcome: AppliedOutcome): AppliedSuppressions {
  if (outcome.isMade) return outcome.applied
  throw new ServiceError(outcome.code, outcome.message, outcome.field)
}

/** @throws ServiceError  if the change was not made */
export function settle(outcome: ChangeOutcome): void {
  if (outcome.isMade) return
  throw new ServiceError(outcome.code, outcome.message, outcome.field)
}

const LATE = 'the disk is slow: the change may still be stored, so look before you send it again'
