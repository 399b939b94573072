/**
 * What machines of a cluster, and commands, ask a machine.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import type { LogPlace } from '../journal/head.js'
import type { DigestsAnswer, DigestsQuestion } from './comparison.js'
import type { KnownFacts } from './facts.js'
import type { ClusterStatus, Entered } from './messages.js'
import type { Seed } from './seed.js'
import type { FileDigest } from './verified-file.js'

export type NodeQuestion =
  /** What do you have behind this batch, of this log? */
  | { readonly kind: 'groups'; readonly after: Link; readonly generation: string }
  /** What am I to begin with? */
  | { readonly kind: 'seed' }
  /** Put a file into the object store, if you have it. */
  | { readonly kind: 'offer'; readonly file: FileDigest }
  /** Be not ready; or be ready again. */
  | { readonly kind: 'drain'; readonly isOn: boolean }
  /** Wait for a machine no more that does not come back. */
  | { readonly kind: 'remove'; readonly name: string }
  /** Make the log of this generation anew from your journal, if no other machine has more. */
  | {
      readonly kind: 'seedLog'
      readonly without: readonly string[]
      readonly generation: string
    }
  /** What has become of a snapshot that a command has made current in your directory? To be asked again. */
  | { readonly kind: 'published'; readonly snapshotId: string }
  /** Have this entry made, and tell what has become of it. Only a command of your directory asks so. */
  | { readonly kind: 'enter'; readonly entry: Uint8Array }
  /** What do you know of the cluster? */
  | { readonly kind: 'status' }
  /** Note in the journal where machines are to be compared. */
  | { readonly kind: 'compare' }
  /** What do you have there? To be asked again until it is known. */
  | ({ readonly kind: 'digests' } & DigestsQuestion)
  /** Who are you? */
  | { readonly kind: 'hello' }

/** What an operator may ask: nothing that has recipients in it, and nothing that writes any. */
export const operatorKinds = ['status', 'drain', 'remove', 'seedLog', 'compare', 'digests'] as const

/** Whether something is done, and if not, why. */
export interface Done {
  readonly isDone: boolean
  readonly reason?: string | undefined
}

export const DONE: Done = { isDone: true }

export const undone = (reason: string): Done => ({ isDone: false, reason })

/** What became of a snapshot that is current in a directory of the cluster. */
export type Published =
  | { readonly kind: 'waiting' }
  /** All machines serve it, or will. */
  | { readonly kind: 'announced' }
  /** Another machine has announced one that goes on from the same one. */
  | { readonly kind: 'refused'; readonly by: string }

/** What another machine has behind a batch. */
export interface CopiedGroups {
  /** Undefined where there is nothing behind it. */
  readonly groups?: Uint8Array | undefined
  /** Where the log of that machine is, if that is all. */
  readonly log?: LogPlace | undefined
  /** It keeps them no more. */
  readonly isGone?: boolean | undefined
  /** It has another batch of that sequence. */
  readonly isOther?: boolean | undefined
}

export interface NodeAnswers {
  readonly groups: CopiedGroups
  readonly seed: Seed
  readonly offer: Done
  readonly drain: Done
  readonly remove: Done
  readonly seedLog: Done & {
    /** Messages of the log that was removed. */
    readonly removedCount?: number
    /** Where it is done: the log goes on behind it. */
    readonly base?: Link
  }
  readonly published: Published
  readonly enter: Entered
  readonly status: ClusterStatus
  readonly compare: Done & {
    /** Where it is done; the snapshot is undefined where none is served yet. */
    readonly at?: { readonly sequence: number; readonly snapshotId: string | undefined }
  }
  readonly digests: DigestsAnswer
  readonly hello: {
    readonly incarnation: string
    /** Of its process. */
    readonly session: string
    /** Where a machine has lost its own. */
    readonly facts: KnownFacts
  }
}

/** Asks a machine. */
export type AskNode = <K extends NodeQuestion['kind']>(
  name: string,
  question: Extract<NodeQuestion, { kind: K }>,
  waitMs?: number,
) => Promise<NodeAnswers[K]>
