/**
 * The messages between the main thread and its front threads. All are plain data.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../config.js'
import type { AccessLogRules } from '../http/access-log.js'
import type { AppDescriptor, EngineName, ListenAddress } from '../http/engine/engine.js'
import type { KeyMemory } from '../keys/key-memory.js'
import type { ChangePort } from '../live/client.js'
import type { LogLevel } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { StarterCalls } from '../threads/thread.js'
import type { RegionsOptions } from './front-regions.js'

/** The data that a front thread starts with. */
export interface FrontData {
  readonly httpEngine: EngineName
  readonly snapshot: Snapshot
  /** The news of other snapshots as it starts. */
  readonly news: SnapshotNews
  readonly dataDirectory: string
  /** The gazetteer as it starts. */
  readonly areas: AreasNews
  /** Where to ask for changes to the store, which the main thread makes. */
  readonly changes: MessagePort
  /** Where to hand in batches of changes. */
  readonly batches: ChangePort
  /** Up to which change to the suppression lists the snapshot is marked. */
  readonly suppressionProgress: Int32Array
  readonly queryThreadCount: number
  /** Whether only recipients within the boundary of the configuration may be counted and listed. */
  readonly clipsRecipients: boolean
  readonly corsOrigins: readonly string[]
  /** Undefined where no key is asked for. */
  readonly keys: { readonly memory: KeyMemory; readonly frontIndex: number } | undefined
  readonly takesWrites: boolean
  readonly publicUrl: string | undefined
  readonly unknownMembers: Config['unknownMembers']
  /** Where lists and changes are recorded; undefined where they are not. */
  readonly audit: FrontAudit | undefined
  /** Undefined without an access log. */
  readonly accessLog: FrontAccessLog | undefined
  /** Undefined on a machine of no cluster. */
  readonly cluster: FrontCluster | undefined
  /** Milliseconds between deaths of a query worker; 0 is never. */
  readonly crashQueryWorkerMs: number
  /** Options of Node.js for query workers and clipping threads. */
  readonly workerArgs: readonly string[]
  /** Where it listens by itself; without it, connections are handed to it. */
  readonly socket?: FrontSocket
  readonly logLevel: LogLevel
  /** Where all threads count. */
  readonly metrics: MetricsMemory
  /** Which of the fronts it is, from 0 on. */
  readonly frontIndex: number
}

/** A socket of the file system, to which a TLS thread hands what it decrypted. */
export interface FrontSocket {
  readonly path: string
  /** Who is at the other end of each connection. */
  readonly peers: SharedArrayBuffer
  readonly news: TlsNews
}

/** What `/readyz` tells of the certificate. */
export interface TlsNews {
  /** When the one that is shown expires, in ISO 8601. */
  readonly certificateExpires: string
  /** Why the one in the files is not shown. */
  readonly refused?: string
}

/** What a front thread needs on a machine of a cluster. */
interface FrontCluster extends Pick<RegionsOptions, 'nats' | 'clusterId' | 'name'> {
  /** See `src/cluster/figures.ts`. */
  readonly figures: Float64Array
  /** By which changes of recipients each front thread answers, by its index. */
  readonly applied: Float64Array
  readonly refusesLaggingLists: boolean
  /** To the main thread, about audiences that all machines know. */
  readonly audiences: MessagePort
}

/** What a front thread needs for its lines of the access log. */
interface FrontAccessLog {
  /** To the thread that writes. */
  readonly port: MessagePort
  readonly counters: Int32Array
  readonly rules: AccessLogRules
}

/** What a front thread needs to have something recorded. */
interface FrontAudit {
  /** To the thread that writes. */
  readonly port: MessagePort
  readonly counters: Int32Array
  readonly hasCounts: boolean
  readonly hasDigests: boolean
}

/** What the main thread calls in a front thread once that is ready. While it drains, calls wait for its end. */
export interface FrontCalls extends SnapshotCalls {
  /** News of new snapshots, for `/readyz`. */
  knowSnapshots(news: SnapshotNews): void
  /** News of the certificate, for `/readyz`. */
  knowCertificate(news: TlsNews): void
  /** News of the gazetteer, for `/readyz`. */
  knowAreas(news: AreasNews): void
  /**
   * Names areas by the version of this news.
   *
   * @throws  where that cannot be opened
   */
  takeAreas(news: AreasNews): void
  /**
   * Takes connections from this address.
   *
   * @throws OperatorError  AddressInUse
   */
  listen(address: ListenAddress): Promise<void>
  /** Answers the requests that are open, then ends. */
  stop(times: DrainTimes): Promise<void>
}

/** How a new snapshot takes the place of the one that is served. */
export interface SnapshotCalls {
  /**
   * Starts workers that hold it.
   *
   * @throws  where they do not start
   */
  prepare(snapshot: Snapshot): Promise<void>
  /** Closes what was prepared. */
  discard(): Promise<void>
  /** Answers requests from what was prepared. */
  switch(): Promise<void>
  /** Answers when nothing of this thread reads the snapshot before any more. */
  untilReleased(): Promise<void>
  /** Ends requests that still read it. */
  breakOff(): void
}

/** What a front thread calls in the main thread. */
export interface FrontNews extends StarterCalls {
  /** Its workers hold the snapshot; `descriptor` lets an acceptor hand it connections. */
  ready(descriptor: AppDescriptor | undefined): void
}

export interface DrainTimes {
  /** For clients that keep a connection to learn that it ends. */
  readonly quietMs: number
  /** When connections that are still open are closed. */
  readonly deadlineMs: number
}

/** The news of a service about snapshots that it does not serve. */
export interface SnapshotNews {
  /** The id of a newer snapshot that is being loaded. */
  readonly loading?: string
  /** What CURRENT names and is not served, or why it names nothing. */
  readonly refused?: Refusal
}

export interface Refusal {
  readonly snapshotId?: string
  readonly reason: string
}

/** What `/readyz` tells of the gazetteer. */
export interface AreasNews {
  /** The version that is served; left out where there is none. */
  readonly version?: string
  /** What CURRENT names and is not served by all threads, or why it names nothing. */
  readonly refused?: { readonly version?: string; readonly reason: string }
}
