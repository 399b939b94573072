/**
 * What machines of a cluster, and commands, ask a machine.
 *
 * @module
 */
import type { PreparedBatch } from '../journal/batch.js'
import type { Handed } from '../live/cluster-messages.js'
import type { Answers, Done, Question } from './agreement/messages.js'
import type { DigestsAnswer, DigestsQuestion } from './machine-digests.js'
import type { ClusterStatus, Entered, Everywhere } from './messages.js'
import type { Seed } from './seed.js'
import type { FileDigest } from './verified-file.js'

export type NodeQuestion =
  | Question
  /** Write this batch, if you write. */
  | { readonly kind: 'append'; readonly batch: SentBatch }
  /** Tell when all machines that are level answer by all up to here. */
  | { readonly kind: 'everywhere'; readonly sequence: number; readonly waitMs: number }
  /** What am I to begin with? */
  | { readonly kind: 'seed' }
  /** Put a file into the object store, if you have it. */
  | { readonly kind: 'offer'; readonly file: FileDigest }
  /** What is in a file of yours from an offset on? */
  | { readonly kind: 'piece'; readonly file: FileDigest; readonly offset: number }
  /** Be not ready, and do not write; or be ready again. */
  | { readonly kind: 'drain'; readonly isOn: boolean }
  /** Have this entry made, and tell what has become of it. Only a command of your directory asks so. */
  | { readonly kind: 'enter'; readonly entry: Uint8Array }
  /** What do you know of the cluster? */
  | { readonly kind: 'status' }
  /** Note in the journal where machines are to be compared, if you write. */
  | { readonly kind: 'compare' }
  /** What do you have there? To be asked again until it is known. */
  | ({ readonly kind: 'digests' } & DigestsQuestion)
  /** Who are you? */
  | { readonly kind: 'hello' }

/** What an operator may ask: nothing that has recipients in it, and nothing that writes any. */
export const operatorKinds = [
  'status',
  'promote',
  'handOver',
  'drain',
  'remove',
  'compare',
  'digests',
] as const

type OperatorKind = (typeof operatorKinds)[number]

export interface NodeAnswers extends Answers {
  readonly append: Handed & { readonly isElsewhere?: boolean }
  readonly everywhere: Everywhere & { readonly isElsewhere?: boolean }
  readonly seed: Seed
  readonly offer: Done
  /** Nothing where there is no such file. */
  readonly piece: { readonly bytes?: Uint8Array | undefined }
  readonly drain: Done
  readonly enter: Entered
  readonly status: ClusterStatus
  readonly compare: Done & {
    /** Where it is done; the snapshot is undefined where none is served yet. */
    readonly at?: { readonly sequence: number; readonly snapshotId: string | undefined }
  }
  readonly digests: DigestsAnswer
  readonly hello: { readonly incarnation: string; readonly pid: number }
}

/** A batch as it travels: what else is known of it follows. */
type SentBatch = Pick<PreparedBatch, 'sourceId' | 'batchId' | 'changeCount' | 'content'>

export function sentBatch({ sourceId, batchId, changeCount, content }: PreparedBatch): SentBatch {
  return { sourceId, batchId, changeCount, content }
}

/** Asks a machine. */
export type AskNode = <K extends NodeQuestion['kind']>(
  name: string,
  question: Extract<NodeQuestion, { kind: K }>,
  waitMs?: number,
) => Promise<NodeAnswers[K]>

/** Asks a machine as an operator. */
export type AskOperator = <K extends OperatorKind>(
  name: string,
  question: Extract<NodeQuestion, { kind: K }>,
  waitMs?: number,
) => Promise<NodeAnswers[K]>
