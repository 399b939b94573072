/**
 * What this machine tells all others of itself: on a beat, and at once when something changes.
 *
 * @module
 */
import { randomInt } from 'node:crypto'
import type { Agreement } from './agreement/agreement.js'
import type { ServedSnapshots } from './messages.js'
import type { AudienceFiles, NodeReport } from './node-report.js'
import type { NodeReports } from './node-reports.js'
import type { OwnLevel } from './own-level.js'

interface ReportOptions {
  readonly version: string
  readonly agreement: Agreement
  readonly level: OwnLevel
  readonly reports: NodeReports
  readonly audiences: () => AudienceFiles | undefined
  readonly tell: (report: NodeReport) => void
}

export class OwnReports {
  readonly #options: ReportOptions
  /** Begins anywhere, so that nobody takes an echo of an earlier life for one of this. */
  #number = randomInt(2 ** 47)
  #answersBy = 0
  #served: ServedSnapshots | undefined
  #isDraining = false
  #isDue = false

  constructor(options: ReportOptions) {
    this.#options = options
  }

  get answersBy(): number {
    return this.#answersBy
  }

  set answersBy(sequence: number) {
    this.#answersBy = Math.max(this.#answersBy, sequence)
    this.tellSoon()
  }

  get served(): ServedSnapshots | undefined {
    return this.#served
  }

  set served(served: ServedSnapshots) {
    this.#served = served
    this.tellSoon()
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  set isDraining(isDraining: boolean) {
    this.#isDraining = isDraining
    this.tellSoon()
  }

  now(): NodeReport {
    const { version, agreement, level, reports, audiences } = this.#options
    return {
      agreement: agreement.report(),
      number: this.#number,
      version,
      answersBy: this.#answersBy,
      levelMs: level.leftMs,
      isDraining: this.#isDraining,
      snapshotId: this.#served?.servedId,
      preparedId: this.#served?.preparedId,
      held: this.#served?.held,
      audiences: audiences(),
      echoes: agreement.isWriter ? level.echoes() : reports.numbers(),
    }
  }

  tell(): void {
    this.#isDue = false
    this.#number++
    this.#options.level.sent(this.#number)
    this.#options.tell(this.now())
  }

  /** At once, with all that changes in the same turn. */
  tellSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      if (this.#isDue) this.tell()
    })
  }
}
