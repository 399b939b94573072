/**
 * What the machines of a cluster tell and ask each other to have the same journal. All are plain data.
 *
 * @module
 */
import type { Link } from '../../chain/link.js'
import type { Groups } from '../../journal/groups.js'

/** Where a journal ends: the last record, and the epoch of the last entry that began one. */
export interface LogEnd extends Link {
  readonly epoch: number
}

/** A machine whose disk counts. */
export interface Member {
  readonly name: string
  /** Drawn when the directory of the machine joined: another one knows nothing of what this one had promised. */
  readonly incarnation: string
}

/** What a machine tells all others, again and again. */
export interface Report extends Member {
  /** The highest one that it has heard of. It follows no writer of a lower one. */
  readonly epoch: number
  readonly isWriter: boolean
  readonly written: LogEnd
  /** Up to here its journal is known to be that of the writer of the epoch. */
  readonly matched: number
  /** Up to here it knows that machines agree. */
  readonly committed: number
}

/** Groups that a writer has written. */
export interface SentGroups {
  readonly name: string
  readonly epoch: number
  readonly committed: number
  readonly groups: Groups
}

/** Why somebody wants to become the writer: the one before is silent, or lets go by itself. */
export type CampaignReason = 'silence' | 'handover'

export type Question =
  /**
   * Will you follow no writer of a lower epoch from now on, and let me be that of this one? With `isDry`: would you?
   */
  | {
      readonly kind: 'promise'
      readonly candidate: string
      readonly epoch: number
      readonly end: LogEnd
      readonly reason: CampaignReason
      readonly isDry: boolean
    }
  /** Which groups are behind a record, if you have that? */
  | { readonly kind: 'fetch'; readonly previous: Link }
  /** Become the writer: I have stopped. */
  | { readonly kind: 'takeOver' }
  /** Count my disk from now on. */
  | { readonly kind: 'join'; readonly member: Member }
  /** Let somebody be the writer. */
  | { readonly kind: 'handOver'; readonly to: string }
  /** Become the writer, as an operator wants; with `mayLose` although others may have what was acknowledged. */
  | { readonly kind: 'promote'; readonly mayLose: boolean }
  /** Count the disk of somebody no more, as an operator wants. */
  | { readonly kind: 'remove'; readonly name: string }

export interface Answers {
  readonly promise: { readonly isPromised: boolean; readonly epoch: number; readonly end: LogEnd }
  /** With `goneUpTo` some are kept no more: the last one of these. */
  readonly fetch: { readonly isThere: boolean; readonly groups?: Groups; readonly goneUpTo?: Link }
  readonly takeOver: Done
  readonly join: Done
  readonly handOver: Done
  readonly promote: Done
  readonly remove: Done
}

/** A reason says why it was not done. */
export interface Done {
  readonly isDone: boolean
  readonly reason?: string
}

export const DONE: Done = { isDone: true }

export const undone = (reason: string): Done => ({ isDone: false, reason })

/** Whether one journal has all that matters of another one: that of a later epoch, or the longer one. */
export function isAsFar(end: LogEnd, other: LogEnd): boolean {
  return end.epoch === other.epoch ? end.sequence >= other.sequence : end.epoch > other.epoch
}
