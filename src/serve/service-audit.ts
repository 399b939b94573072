/**
 * The audit of a running service, with the lines of its start and its end.
 *
 * @module
 */
import { auditFigures } from '../audit/counters.js'
import { entryOf } from '../audit/entry.js'
import { type AuditThread, startAudit } from '../audit/thread.js'
import type { Config } from '../config.js'
import type { Log } from '../log.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { Store } from '../store/store.js'
import { readVersion } from '../version.js'

export interface ServiceAudit {
  readonly thread: AuditThread
  started(served: {
    readonly port: number
    readonly snapshot: Snapshot
    readonly store: Store
  }): void
  /** Resolves when all is written. */
  stopped(): Promise<void>
}

/**
 * Starts it, if the configuration asks for one.
 *
 * @throws OperatorError  when there is no such directory, and none can be made
 */
export function startServiceAudit(config: Config, log: Log): ServiceAudit | undefined {
  const { auditDirectory: directory, auditKeepDays: keepDays, dataDirectory, host } = config
  if (directory === undefined) return undefined
  const thread = startAudit({ directory, keepDays, log })
  const service = { pid: process.pid, version: readVersion(), dataDirectory }
  return {
    thread,
    started({ port, snapshot, store }) {
      const suppressionVersion = store.suppressions.version()
      const served = { host, port, snapshotId: snapshot.id, suppressionVersion }
      thread.client.note(entryOf({ event: 'service', phase: 'started', ...service, ...served }))
    },
    async stopped() {
      // Behind all that the front threads noted; if it cannot be written, the log says so.
      await thread.client
        .record([entryOf({ event: 'service', phase: 'stopped', ...service })])
        .catch(() => {})
      await thread.stop()
      const { writtenCount, lostCount, refusedCount } = auditFigures(thread.counters)
      log.info({ writtenCount, lostCount, refusedCount }, 'the audit is closed')
    },
  }
}
