/**
 * The admin listener of a running service: its paths, and the readings of the main thread for `/metrics`.
 *
 * @module
 */
import { statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { logFigures } from '../access-log/queue.js'
import {
  type AdminListener,
  type AdminRoute,
  listenForAdmin,
  metricsRoute,
  plainAnswer,
} from '../admin/listener.js'
import { audienceUse } from '../audiences/directory.js'
import { type AuditFigures, auditFigures } from '../audit/counters.js'
import type { Config } from '../config.js'
import { readFigures } from '../live/figures.js'
import { droppedLogLineCount, type Log } from '../log.js'
import type { Readings, Sample } from '../metrics/exposition.js'
import type { MetricsMemory } from '../metrics/memory.js'
import { markedCount } from '../shard/suppressed.js'
import type { Snapshot, SnapshotSource } from '../snapshot/snapshot.js'
import { appliedVersion } from '../suppressions/progress.js'
import { readVersion } from '../version.js'
import { unreadyReason } from './freshness.js'
import { readingsOfCluster } from './known-cluster.js'
import type { ServiceState } from './state.js'

interface AdminOptions {
  readonly config: Config
  readonly memory: MetricsMemory
  readonly state: ServiceState
  readonly log: Log
}

/**
 * @returns undefined where no port is configured
 * @throws OperatorError  when it cannot listen
 */
export async function startAdmin(options: AdminOptions): Promise<AdminListener | undefined> {
  const { config, memory, state, log } = options
  const { adminPort, adminHost } = config
  if (adminPort === undefined) return undefined
  const readings = serviceReadings(state, readVersion(), config.dataDirectory)
  const routes: Record<string, AdminRoute> = {
    '/metrics': metricsRoute(memory, readings),
    '/livez': () => plainAnswer(200, 'live'),
    '/readyz': () => {
      const reason =
        state.phase === 'ready' ? unreadyReason(false, state.cluster?.freshness) : state.phase
      return plainAnswer(reason === undefined ? 200 : 503, reason ?? 'ready')
    },
  }
  const listener = await listenForAdmin({ host: adminHost, port: adminPort, routes, log })
  log.info({ port: listener.port }, 'admin requests are answered')
  return listener
}

/** One function for each reading of the table, called at each scrape. */
function serviceReadings(state: ServiceState, version: string, dataDirectory: string): Readings {
  const freeBytes = askedBefore(async () => {
    const { bavail, bsize } = await statfs(dataDirectory)
    return bavail * bsize
  })
  const audiences = askedBefore(() => audienceUse(dataDirectory, Date.now()))
  const bySource = (value: (source: SnapshotSource, snapshot: Snapshot) => number) => () => {
    const snapshot = state.served?.snapshot
    return snapshot?.sources.map(
      (source): Sample => ({
        labels: { source: String(source.id) },
        value: value(source, snapshot),
      }),
    )
  }
  const ofChanges = (value: (figures: ReturnType<typeof readFigures>) => number) => () =>
    state.changeFigures && value(readFigures(state.changeFigures))
  const ofAudit = <Value>(value: (figures: AuditFigures) => Value) =>
    state.auditCounters && value(auditFigures(state.auditCounters))
  return {
    hickory_build_info: () => [{ labels: { version, node: process.version }, value: 1 }],
    hickory_start_timestamp_seconds: () => state.startedMs / 1_000,
    hickory_ready: () => (state.phase === 'ready' ? 1 : 0),
    hickory_snapshot_info: () =>
      state.served && [{ labels: { snapshot: state.served.snapshot.id }, value: 1 }],
    hickory_snapshot_created_timestamp_seconds: () =>
      state.served && Date.parse(state.served.snapshot.createdAt) / 1_000,
    hickory_snapshot_served_timestamp_seconds: () => state.served && state.served.sinceMs / 1_000,
    hickory_snapshot_refused: () => (state.news.refused === undefined ? 0 : 1),
    hickory_source_recipients: bySource(({ recipientCount }) => recipientCount),
    hickory_source_contacts: bySource(({ contactCount }) => contactCount),
    hickory_source_suppressed_recipients: bySource(({ id }, { shards }) =>
      suppressedCount(id, shards),
    ),
    hickory_suppression_version: () => state.store?.suppressions.version(),
    hickory_suppression_taken_version: () =>
      state.suppressionProgress && appliedVersion(state.suppressionProgress),
    hickory_journal_sequence: ofChanges(({ journalSequence }) => journalSequence),
    hickory_sequence: ofChanges(({ sequence }) => sequence),
    hickory_changed_recipients: ofChanges(({ changeCount }) => changeCount),
    ...readingsOfCluster(() => state.cluster),
    hickory_suppressed_numbers: () =>
      state.store?.suppressions.lists().reduce((sum, { count }) => sum + count, 0),
    hickory_audit_lines_total: () =>
      ofAudit(({ writtenCount, lostCount, refusedCount }) => [
        { labels: { outcome: 'written' }, value: writtenCount },
        { labels: { outcome: 'lost' }, value: lostCount },
        { labels: { outcome: 'refused' }, value: refusedCount },
      ]),
    hickory_audit_lines_waiting: () => ofAudit(({ waitingCount }) => waitingCount),
    hickory_audit_failing: () => ofAudit(({ isFailing }) => (isFailing ? 1 : 0)),
    hickory_audit_lag_seconds: () => ofAudit(({ lagMicroseconds }) => lagMicroseconds / 1e6),
    hickory_log_dropped_lines_total: droppedLogLineCount,
    hickory_access_log_dropped_lines_total: () =>
      state.accessLogCounters && logFigures(state.accessLogCounters).droppedCount,
    hickory_access_log_queued_bytes: () =>
      state.accessLogCounters && logFigures(state.accessLogCounters).queuedBytes,
    hickory_certificate_expiry_timestamp_seconds: () =>
      state.certificateExpires && Date.parse(state.certificateExpires()) / 1_000,
    hickory_audiences: () => audiences()?.count,
    hickory_audience_bytes: () => audiences()?.byteLength,
    hickory_contexts: () => state.store?.page(0, 0).totalCount,
    hickory_resident_memory_bytes: () => process.memoryUsage.rss(),
    hickory_memory_limit_bytes: memoryLimitBytes,
    hickory_arena_bytes: () => state.arenas?.totalBytes(),
    hickory_cpu_seconds_total: cpuSeconds,
    hickory_data_free_bytes: freeBytes,
  }
}

/** The marks of shards tell it without being looked through. */
function suppressedCount(sourceId: number, shards: Snapshot['shards']): number {
  let count = 0
  for (const shard of shards) {
    if (shard.sourceId === sourceId && shard.marks !== null) count += markedCount(shard.marks)
  }
  return count
}

/** Without a limit of its own, the control group has that of the machine, or one that is far beyond. */
function memoryLimitBytes(): number {
  const limitBytes = process.constrainedMemory()
  return limitBytes > 0 ? Math.min(limitBytes, totalmem()) : totalmem()
}

function cpuSeconds(): Sample[] {
  const { user, system } = process.cpuUsage()
  return [
    { labels: { mode: 'user' }, value: user / 1e6 },
    { labels: { mode: 'system' }, value: system / 1e6 },
  ]
}

/** A file system that does not answer must not keep a scrape waiting, so each gets what was found before. */
function askedBefore<Value>(look: () => Promise<Value>): () => Value | undefined {
  let isAsking = false
  let found: Value | undefined
  const ask = async () => {
    found = await look().catch(() => undefined)
    isAsking = false
  }
  return () => {
    if (!isAsking) {
      isAsking = true
      void ask()
    }
    return found
  }
}
