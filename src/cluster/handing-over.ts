/**
 * A writer that ends, or whose disk fails, lets another machine write.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import type { Agreement } from './agreement/agreement.js'
import type { ClusterSettings } from './messages.js'
import type { NodeReports } from './node-reports.js'

interface HandingOverOptions {
  readonly agreement: Agreement
  readonly reports: NodeReports
  readonly settings: ClusterSettings
  readonly log: Log
}

export class HandingOver {
  readonly #options: HandingOverOptions
  #resignedMs = Number.NEGATIVE_INFINITY

  constructor(options: HandingOverOptions) {
    this.#options = options
  }

  /** Tries the members in the order of how much they have; does nothing on a machine that does not write. */
  async leave(): Promise<void> {
    const { agreement, reports, settings, log } = this.#options
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

  /** The same for as often as the disk of this machine fails, but not more often than now and then. */
  async resign(): Promise<void> {
    if (monotonicMs() < this.#resignedMs + limits.resignAgainMs) return
    this.#resignedMs = monotonicMs()
    await this.leave()
  }
}
