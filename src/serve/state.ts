/**
 * The status of a service, for `/metrics` and `/readyz`.
 *
 * @module
 */

import type { LogCounters } from '../access-log/queue.js'
import type { AuditCounters } from '../audit/counters.js'
import type { ArenaPool } from '../shard/arena-pool.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { Store } from '../store/store.js'
import type { Progress } from '../suppressions/progress.js'
import type { KnownCluster } from './known-cluster.js'
import type { SnapshotNews } from './messages.js'

/** Written by the main thread as things happen. */
export interface ServiceState {
  phase: 'starting' | 'ready' | 'draining'
  /** Milliseconds since 1970. */
  readonly startedMs: number
  served: ServedSince | undefined
  news: SnapshotNews
  /** Undefined until the store is open, and when it is closed. */
  store: Store | undefined
  suppressionProgress: Progress | undefined
  /** Figures of the thread of changes, see live/figures.ts. */
  changeFigures: Float64Array | undefined
  /** Undefined on a machine of no cluster, and until it is one. */
  cluster: KnownCluster | undefined
  arenas: ArenaPool | undefined
  /** Undefined where there is no audit. */
  auditCounters: AuditCounters | undefined
  /** Undefined where there is no access log. */
  accessLogCounters: LogCounters | undefined
  /** When the certificate expires, in ISO 8601; undefined without TLS. */
  certificateExpires: (() => string) | undefined
}

interface ServedSince {
  readonly snapshot: Snapshot
  /** Milliseconds since 1970. */
  readonly sinceMs: number
}

export function startingState(): ServiceState {
  return {
    phase: 'starting',
    startedMs: Date.now(),
    served: undefined,
    news: {},
    store: undefined,
    suppressionProgress: undefined,
    changeFigures: undefined,
    cluster: undefined,
    arenas: undefined,
    auditCounters: undefined,
    accessLogCounters: undefined,
    certificateExpires: undefined,
  }
}
