/**
 * A writer that ends lets another machine write first.
 *
 * @module
 */
import type { Log } from '../log.js'
import type { Agreement } from './agreement/agreement.js'
import type { ClusterSettings } from './messages.js'
import type { NodeReports } from './node-reports.js'

interface HandingOverOptions {
  readonly agreement: Agreement
  readonly reports: NodeReports
  readonly settings: ClusterSettings
  readonly log: Log
}

/** Tries the members in the order of how much they have. */
export async function handOver(options: HandingOverOptions): Promise<void> {
  const { agreement, reports, settings, log } = options
  const { name, silenceMs } = settings
  if (!agreement.isWriter) return
  const ready = agreement
    .members()
    .filter((member) => member.name !== name)
    .flatMap((member) => reports.within(silenceMs, member.name) ?? [])
    .filter(({ isDraining }) => !isDraining)
    .sort((left, right) => right.agreement.matched - left.agreement.matched)
  for (const report of ready) {
    const to = report.agreement.name
    const { isDone, reason } = await agreement.answer<'handOver'>({ kind: 'handOver', to })
    log.info({ to, isDone, reason }, 'handing over')
    if (isDone) return
  }
}
