/**
 * What a machine has heard of the others.
 *
 * @module
 */
import { majorityOf } from './majority.js'
import type { Member, Report } from './messages.js'

interface Heard {
  readonly report: Report
  readonly atMs: number
}

export class HeardReports {
  readonly #nowMs: () => number
  readonly #byName = new Map<string, Heard>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  note(report: Report): void {
    this.#byName.set(report.name, { report, atMs: this.#nowMs() })
  }

  /** The last one of a machine, however old. */
  of(name: string): Report | undefined {
    return this.#byName.get(name)?.report
  }

  /** The last one, where that is not older. */
  within(ms: number, { name, incarnation }: Member): Report | undefined {
    const heard = this.#byName.get(name)
    const isOld = heard === undefined || heard.atMs < this.#nowMs() - ms
    return isOld || heard.report.incarnation !== incarnation ? undefined : heard.report
  }

  /** Whether most members were heard, the machine itself among them. */
  isMajorityWithin(ms: number, me: string, members: readonly Member[]): boolean {
    const isHeard = (member: Member) => member.name === me || this.within(ms, member) !== undefined
    return members.filter(isHeard).length >= majorityOf(members.length)
  }

  /** Up to where the journal of a member is known to be that of the writer of an epoch. */
  matched({ name, incarnation }: Member, epoch: number): number {
    const report = this.of(name)
    return report?.incarnation === incarnation && report.epoch === epoch ? report.matched : 0
  }
}
