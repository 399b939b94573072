/**
 * What a front thread records of requests, for the audit and for the access log.
 *
 * @module
 */
import { LineQueue } from '../access-log/queue.js'
import { auditClient } from '../audit/client.js'
import { AccessLog } from '../http/access-log.js'
import { AuditTrail } from '../http/audit-trail.js'
import { createLineLog } from '../log.js'
import { takenVersion } from '../suppressions/progress.js'
import type { FrontData } from './messages.js'

interface FrontRecords {
  readonly trail: AuditTrail | undefined
  readonly accessLog: AccessLog | undefined
  /** Sends what has gathered; to be called when no request follows. */
  flush(): void
}

export function frontRecords({
  audit,
  accessLog,
  suppressionProgress,
}: Pick<FrontData, 'audit' | 'accessLog' | 'suppressionProgress'>): FrontRecords {
  const queue = accessLog && new LineQueue(accessLog.port, accessLog.counters)
  return {
    trail:
      audit &&
      new AuditTrail({
        desk: auditClient(audit.port, audit.counters),
        hasCounts: audit.hasCounts,
        hasDigests: audit.hasDigests,
        suppressionVersion: () => takenVersion(suppressionProgress),
      }),
    accessLog:
      queue &&
      accessLog &&
      new AccessLog(
        createLineLog((line) => queue.add(line)),
        accessLog.rules,
      ),
    flush: () => queue?.flush(),
  }
}
