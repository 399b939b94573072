/**
 * The last report of each other machine, and when it came.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { NodeReport } from './node-report.js'

interface Heard {
  readonly report: NodeReport
  readonly atMs: number
}

export class NodeReports {
  readonly #nowMs: () => number
  readonly #byName = new Map<string, Heard>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  note(report: NodeReport): void {
    this.#byName.set(report.name, { report, atMs: this.#nowMs() })
  }

  of(name: string): NodeReport | undefined {
    return this.#byName.get(name)?.report
  }

  /** By name. */
  all(): { readonly report: NodeReport; readonly silentMs: number }[] {
    const nowMs = this.#nowMs()
    return [...this.#byName.values()]
      .map(({ report, atMs }) => ({ report, silentMs: nowMs - atMs }))
      .sort((a, b) => (a.report.name < b.report.name ? -1 : 1))
  }

  /** The last report of each machine that has told anything lately. */
  ofThoseThere(): NodeReport[] {
    return this.all().flatMap(({ report, silentMs }) =>
      silentMs < limits.clusterSilenceMs ? report : [],
    )
  }
}
