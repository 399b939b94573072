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
import type { RegionsOptions } from './front-regions.js'

/** The data that a front thread starts with. */
export interface FrontData {
  readonly httpEngine: EngineName
  readonly snapshot: Snapshot
  /** The news of other snapshots as it starts. */
  readonly news: SnapshotNews
  readonly dataDirectory: string
  /** Of the gazetteer as it starts. */
  readonly areas: AreasNews
  /** Where to ask for changes to the store, which the main thread makes. */
  readonly changes: MessagePort
  /** Where to hand in batches of changes. */
  readonly batches: ChangePort
  /** Up to which change to the suppression lists the snapshot is marked. */
  readonly suppressionProgress: Int32Array
  readonly queryThreadCount: number
  /** Whether nobody beyond the boundary of the configuration may be answered for. */
  readonly clipsRecipients: boolean
  readonly corsOrigins: readonly string[]
  /** Undefined where no key is asked for. */
  readonly keys: { readonly memory: KeyMemory; readonly frontIndex: number } | undefined
  readonly takesWrites: boolean
  readonly publicUrl: string | undefined
  readonly unknownMembers: Config['unknownMembers']
  /** Where lists and changes are recorded; undefined where they are not. */
  readonly audit: FrontAudit | undefined
  /** Undefined where there is none. */
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

/** To a front thread, when a new snapshot takes the place of the one that is served. */
export type SwapOrder =
  /** Start workers that hold it. Answered by `prepared` or `refused`. */
  | { readonly kind: 'prepare'; readonly snapshot: Snapshot }
  /** Answer from what was prepared. Answered by `switched`, and by `released` for the old one. */
  | { readonly kind: 'switch' }
  /** Forget what was prepared, if it was. Answered by `released`. */
  | { readonly kind: 'discard'; readonly snapshotId: string }
  /** Stop waiting for requests that still read an old snapshot. */
  | { readonly kind: 'breakOff' }

/** To a front thread. */
export type FrontOrder =
  | SwapOrder
  /** News of new snapshots, for `/readyz`. */
  | { readonly kind: 'news'; readonly news: SnapshotNews }
  /** News of the certificate, for `/readyz`. */
  | { readonly kind: 'tls'; readonly news: TlsNews }
  /** Name areas by the version of this news. Answered by `areas`. */
  | { readonly kind: 'areas'; readonly news: AreasNews }
  /** News of the gazetteer, for `/readyz`. */
  | { readonly kind: 'areasNews'; readonly news: AreasNews }
  /** Take connections from this address. Answered by `listening`. */
  | { readonly kind: 'listen'; readonly address: ListenAddress }
  /** Answer the requests that are open, then end. */
  | ({ readonly kind: 'drain' } & DrainTimes)

export interface DrainTimes {
  /** For clients that keep a connection to learn that it ends. */
  readonly quietMs: number
  /** When connections that are still open are closed. */
  readonly deadlineMs: number
}

/** From a front thread, in answer to a `SwapOrder`. */
export type SwapReport =
  | { readonly kind: 'prepared'; readonly snapshotId: string }
  | { readonly kind: 'refused'; readonly snapshotId: string; readonly reason: string }
  | { readonly kind: 'switched'; readonly snapshotId: string }
  /** Nothing of this thread reads it any more. */
  | { readonly kind: 'released'; readonly snapshotId: string }

/** From a front thread, about a version of the gazetteer; `fault` says why it cannot take it. */
export interface AreasReport {
  readonly kind: 'areas'
  readonly version: string
  readonly fault?: string
}

/** From a front thread. */
export type FrontReport =
  | SwapReport
  | AreasReport
  /** Its workers hold the snapshot; `descriptor` lets an acceptor hand it connections. */
  | { readonly kind: 'ready'; readonly descriptor: AppDescriptor | undefined }
  /** `fault` says why it cannot. */
  | { readonly kind: 'listening'; readonly fault?: string }
  /** It cannot start or go on. */
  | { readonly kind: 'failed'; readonly reason: string }

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
