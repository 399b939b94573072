/**
 * The messages between the thread of a cluster and the main thread. All are plain data.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { LogLevel } from '../log.js'
import type { Holding } from '../snapshot/snapshot.js'
import type { AnnouncedAudience, MadeAudience, SharedAudience } from '../store/audiences.js'
import type { StoreOutcome } from '../store/entries.js'
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from './comparison.js'
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

/** What the main thread calls in the thread of the cluster. */
export interface ClusterCalls {
  /** Resolves when the directory is one of the cluster. Rejects with what the service ends with. */
  begun(): Promise<void>
  /** Takes batches from the thread of changes. */
  run(changes: MessagePort): void
  /** Answers are by all entries of the store up to here. */
  storedBy(sequence: number): void
  /** Answers are by all that is up to here. */
  answersBy(sequence: number): void
  /** Whether all machines that are level answer by all up to here, as soon as that is so, or not in time. */
  everywhere(sequence: number, waitMs: number): Promise<Everywhere>
  /** Which snapshot is served, and which one could be. */
  serves(served: ServedSnapshots): void
  /** These audiences are there, by all entries up to here. */
  knowAudiences(upTo: number, audiences: readonly SharedAudience[]): void
  /** Puts the file of an audience of this machine into the object store, and tells the documents of its snapshot. */
  putAudience(made: MadeAudience): Promise<AnnouncedAudience['documents']>
  /** Whether one stays although a machine is lost, by the entry that announced it; as soon as that is so, or not in time. */
  untilAudienceKept(entrySequence: number, file: AnnouncedAudience['file']): Promise<Kept>
  /**
   * Gets the files of an audience. Rejects with the reason where they are not here in time: they are fetched all the same.
   *
   * @param isDamaged  whether somebody has found other bytes in them than were written
   */
  bringAudience(id: string, isDamaged: boolean, waitMs: number): Promise<void>
  /** Files of a snapshot are not as they were written: has them fetched. */
  damaged(snapshotId: string): void
  /**
   * The service cannot start with what is in the directory.
   *
   * @returns whether other machines have what is damaged here; then the next start begins with that
   */
  recover(reason: BeginsAnew): Promise<boolean>
  stop(): void
}

/** What the thread of the cluster calls in the main thread. */
export interface MainCalls {
  status(status: ClusterStatus): void
  /** What this machine has to be compared by. */
  digests(question: DigestsQuestion): DigestsAnswer<LocalDigests>
  /** Again with each change. */
  wanted(wanted: WantedSnapshots): void
  /** A snapshot that was damaged is whole. */
  repaired(snapshotId: string): void
  /** Has the store note how far it is, on disk; undefined where it cannot be written. */
  keepStored(): number | undefined
  /** Makes an entry of a command. */
  enter(entry: Uint8Array): Promise<Entered>
  /** The directory must be begun anew, with nothing open. */
  beginAnew(reason: string): void
}

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

/** Whether an audience stays although a machine is lost. */
export interface Kept {
  readonly isKept: boolean
  /** Members that have not told that they have the files. */
  readonly waitingFor: readonly string[]
}

/** What has become of an entry that a command has made. */
export interface Entered extends Everywhere {
  readonly sequence: number
  /** On each machine alike. */
  readonly outcome: StoreOutcome
}

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
