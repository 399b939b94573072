/**
 * The last report of each other machine, and when it came.
 *
 * @module
 */
import { committedBy } from './agreement/majority.js'
import type { Member } from './agreement/messages.js'
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
    this.#byName.set(report.agreement.name, { report, atMs: this.#nowMs() })
  }

  of(name: string): NodeReport | undefined {
    return this.#byName.get(name)?.report
  }

  within(ms: number, name: string): NodeReport | undefined {
    const heard = this.#byName.get(name)
    return heard !== undefined && heard.atMs >= this.#nowMs() - ms ? heard.report : undefined
  }

  /** By name. */
  all(): { readonly report: NodeReport; readonly silentMs: number }[] {
    const nowMs = this.#nowMs()
    return [...this.#byName.values()]
      .map(({ report, atMs }) => ({ report, silentMs: nowMs - atMs }))
      .sort((a, b) => (a.report.agreement.name < b.report.agreement.name ? -1 : 1))
  }

  /** The last report of each machine that has told anything for so long. */
  ofThoseThere(silenceMs: number): NodeReport[] {
    return this.all().flatMap(({ report, silentMs }) => (silentMs < silenceMs ? report : []))
  }

  /** Of the last report of each. */
  numbers(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      Array.from(this.#byName, ([name, { report }]) => [name, report.number]),
    )
  }

  /**
   * The last report of a machine that most members have heard who follow its epoch; infinite where it is alone most of
   * them.
   *
   * @param wasSent  whether it is one of those that the process has sent: others say nothing of when they were
   */
  echoedByMajority(
    members: readonly Member[],
    { name, epoch }: { readonly name: string; readonly epoch: number },
    wasSent: (number: number) => boolean,
  ): number | undefined {
    const echoes = members.map((member) => {
      if (member.name === name) return Number.POSITIVE_INFINITY
      const report = this.of(member.name)
      const isFollowing =
        report?.agreement.incarnation === member.incarnation && report.agreement.epoch === epoch
      const echo = isFollowing ? report.echoes[name] : undefined
      return echo !== undefined && wasSent(echo) ? echo : 0
    })
    return committedBy(echoes) || undefined
  }
}
