/**
 * The messages between the thread of a cluster and the main thread. All are plain data.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { OperatorErrorCode } from '../errors.js'
import type { LogLevel } from '../log.js'
import type { Holding } from '../snapshot/snapshot.js'
import type { SharedAudience } from '../store/audiences.js'
import type { StoreOutcome } from '../store/entries.js'
import type { AudienceAsk, AudienceReply } from './audience-messages.js'
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from './machine-digests.js'
import type { NatsSettings } from './nats/connection.js'
import type { BeginsAnew } from './state-file.js'

/** What an operator says of the cluster. Plain data. */
export interface ClusterSettings {
  readonly nats: NatsSettings
  readonly clusterId: string
  /** Of this machine. */
  readonly name: string
  /** Of the servers of NATS, which say whether they sync what they acknowledge; such as `http://127.0.0.1:8222`. */
  readonly natsMonitors: readonly string[]
  /** For so long the machine may answer that does not hear from the log. */
  readonly maxLagMs: number
  /** How many machines hold each shard of a snapshot; undefined where each holds all. */
  readonly copies?: number | undefined
}

/** What the thread is born with. */
export interface ClusterThreadData {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly version: string
  /** Of a file of the journal. */
  readonly journalFileBytes: number
  /** See figures.ts. */
  readonly figures: Float64Array
  readonly logLevel: LogLevel
}

/** To the thread. */
export type ClusterOrder =
  /** Take batches from the thread of changes. */
  | { readonly kind: 'run'; readonly changes: MessagePort }
  /** Answers are by all entries of the store up to here, or by all that is up to here. */
  | { readonly kind: 'storedBy' | 'answersBy'; readonly sequence: number }
  /** Tell when all machines that are level answer by all up to here. Answered by `everywhere`. */
  | {
      readonly kind: 'everywhere'
      readonly number: number
      readonly sequence: number
      readonly waitMs: number
    }
  /** Which snapshot is served, and which one could be. */
  | ({ readonly kind: 'snapshots' } & ServedSnapshots)
  /** These audiences are there, by all entries up to here. */
  | {
      readonly kind: 'audiences'
      readonly upTo: number
      readonly audiences: readonly SharedAudience[]
    }
  /** Answered by `audience`. */
  | { readonly kind: 'audience'; readonly number: number; readonly ask: AudienceAsk }
  /** Files of a snapshot are not as they were written. */
  | { readonly kind: 'damaged'; readonly snapshotId: string }
  /** How far the store is, on disk; undefined where it cannot be written. Answers `keepStored`. */
  | { readonly kind: 'stored'; readonly number: number; readonly sequence: number | undefined }
  /** What has become of an entry of a command. Answers `enter`. */
  | ({ readonly kind: 'entered'; readonly number: number } & EnteredReply)
  /** The service cannot start with what is in the directory. Answered by `recovers`. */
  | { readonly kind: 'recover'; readonly reason: BeginsAnew }
  /** What this machine has to be compared by. */
  | {
      readonly kind: 'digests'
      readonly number: number
      readonly answer: DigestsAnswer<LocalDigests>
    }
  | { readonly kind: 'stop' }

/** From the thread. */
export type ClusterNews =
  /** The directory is one of the cluster. Comes once, unless `refused` does. */
  | { readonly kind: 'joined' }
  | { readonly kind: 'refused'; readonly code: OperatorErrorCode; readonly message: string }
  | ({ readonly kind: 'everywhere'; readonly number: number } & Everywhere)
  | { readonly kind: 'status'; readonly status: ClusterStatus }
  /** Somebody compares machines. Answered by `digests`. */
  | ({ readonly kind: 'digests'; readonly number: number } & DigestsQuestion)
  /** Comes again with each change. */
  | ({ readonly kind: 'wanted' } & WantedSnapshots)
  /** Have the store note how far it is. Answered by `stored`. */
  | { readonly kind: 'keepStored'; readonly number: number }
  /** A command wants this entry made. Answered by `entered`. */
  | { readonly kind: 'enter'; readonly number: number; readonly entry: Uint8Array }
  | ({ readonly kind: 'audience' } & AudienceReply)
  /** A snapshot that was damaged is whole. */
  | { readonly kind: 'repaired'; readonly snapshotId: string }
  /** Whether other machines have what is damaged here; then the next start begins with that. */
  | { readonly kind: 'recovers'; readonly canRecover: boolean }
  /** The directory must be begun anew, with nothing open. */
  | { readonly kind: 'beginAnew'; readonly reason: string }

export interface WantedSnapshots {
  /** Here, and to be prepared. */
  readonly wantedId: string
  /** To be served; undefined where nobody has said so. */
  readonly switchedId: string | undefined
}

export interface ServedSnapshots {
  readonly servedId: string
  readonly held: Holding
  /** The id of one that is ready to be served; undefined where there is none. */
  readonly preparedId: string | undefined
}

/** Whether all level machines answer by something; if not, who does not. */
export interface Everywhere {
  readonly isEverywhere: boolean
  readonly waitingFor: readonly string[]
}

/** What has become of an entry that a command has made. */
export interface Entered extends Everywhere {
  readonly sequence: number
  /** On each machine alike. */
  readonly outcome: StoreOutcome
}

/** Or why nobody knows. */
export type EnteredReply =
  | { readonly entered: Entered; readonly fault?: undefined }
  | { readonly fault: string; readonly entered?: undefined }

/** How the cluster fares, as one machine sees it. */
export interface ClusterStatus {
  readonly clusterId: string
  readonly name: string
  readonly isConnected: boolean
  /** Why this machine cannot write: NATS, its own disk, or what it has against the log. */
  readonly doubt: string | undefined
  /** Undefined where JetStream does not answer. */
  readonly log: LogStatus | undefined
  /** Whether a snapshot is announced to which the machines have not switched yet. */
  readonly isSwitching: boolean
  /** This machine first, then the others by name. */
  readonly machines: readonly MachineStatus[]
}

/** The log as the server of NATS that leads says it. */
export interface LogStatus {
  readonly generation: string | undefined
  readonly messageCount: number
  /** Messages that the server lacks between the first and the last one: its disk is damaged. */
  readonly missingCount: number
  /** On so many servers it is kept. */
  readonly copyCount: number
  readonly server: string | undefined
}

export interface MachineStatus {
  readonly name: string
  readonly version: string
  readonly isMember: boolean
  readonly isLevel: boolean
  /** Of the last batch in its journal. */
  readonly written: number
  /** Of the last entry by which it answers. */
  readonly answersBy: number
  /** Why it does not go on with the cluster. */
  readonly fault: string | undefined
  readonly snapshotId: string | undefined
  /** Of the snapshot; undefined where it does not say. */
  readonly held?: Holding | undefined
  readonly isDraining: boolean
  /** Since it was heard; 0 of the machine that tells, undefined of one that was not heard since that started. */
  readonly silentMs: number | undefined
}
