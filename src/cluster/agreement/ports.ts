/**
 * What the agreement needs of the machine that it runs on, so that a simulation can be one.
 *
 * @module
 */
import type { Link } from '../../chain/link.js'
import type { Groups } from '../../journal/groups.js'
import type { Answers, LogEnd, Member, Question, SentGroups } from './messages.js'

export interface AgreementOptions {
  /** Whether a batch is committed when it is on the disk of the writer, or on most disks. */
  readonly acks: 'one' | 'majority'
  /** Whether the machine becomes the writer by itself where there is none. */
  readonly takesOver: boolean
  /** Whether the machine begins the cluster, so that it is the only member until another one is named. */
  readonly isFounder: boolean
  /** For this time, nobody takes the place of a writer that is silent. */
  readonly silenceMs: number
}

/** The journal of the machine. */
export interface Log {
  end(): LogEnd
  /** Up to here readers see it. */
  committed(): number
  /** As the last entry of the journal says that names them, committed or not. */
  members(): readonly Member[]
  /** The sequence of that entry; 0 where there is none. */
  membersSequence(): number
  /** The record before the first one that is kept. */
  beginning(): Link
  /** Undefined where the record is not there, or was before the beginning. */
  linkAt(sequence: number): Link | undefined
  /**
   * @param sequence  not before the beginning
   * @returns undefined where there are none
   */
  behind(sequence: number): Groups | undefined
  /** Writes groups that go on with the end, to disk. */
  copy(groups: Buffer): Promise<void>
  /** Takes back what is behind a sequence. */
  cutBack(sequence: number): Promise<void>
  /** Lets readers see up to a sequence, or to the end of the last group before it. */
  commit(sequence: number): void
  /**
   * Lets the machine write batches from now on. It first writes an entry that begins the epoch.
   *
   * @returns the sequence of that entry
   */
  begin(epoch: number): Promise<number>
  /** Lets it write none any more; when this resolves, the end is where it stays. */
  stop(): Promise<void>
  /** Lets it go on after `stop`, in the same epoch. */
  goOn(): void
  /** Writes an entry that names members. To be called by the writer. */
  nameMembers(members: readonly Member[]): Promise<void>
}

/** What the machine must remember, on disk when a promise resolves. */
interface Memory {
  readonly epoch: number
  promise(epoch: number): Promise<void>
}

/** Something outside of the machines that at most one of them holds at a time. */
interface Lease {
  /**
   * Takes it for an epoch that is higher than any before.
   *
   * @returns `epoch` is the highest one for which it was taken; undefined where nobody can tell soon. Never rejects
   */
  take(epoch: number): Promise<{ readonly isTaken: boolean; readonly epoch: number } | undefined>
}

export interface Ports {
  readonly log: Log
  readonly memory: Memory
  readonly lease: Lease
  /** Tells all other machines. What is lost is asked for. */
  send(groups: SentGroups): void
  /** Groups behind a sequence that any writer has sent, from whoever carries them; undefined where there are none. */
  carried(since: number): Promise<Groups | undefined>
  /** @throws  as a rejection, where no answer comes in time */
  ask<K extends Question['kind']>(
    name: string,
    question: Extract<Question, { kind: K }>,
  ): Promise<Answers[K]>
  /** A clock that goes on while the process is stopped. */
  nowMs(): number
  sleep(ms: number): Promise<void>
  /** From 0 to 1. */
  random(): number
  /** Something changed that others should hear of soon. */
  onChange(): void
  /** Something failed that is tried again. */
  onFault(fault: unknown): void
  /** The journal cannot become that of the writer: what it lacks is gone, or it has what nobody else has. */
  onLost(reason: 'gone' | 'diverged'): void
}
