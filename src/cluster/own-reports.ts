/**
 * What this machine tells all others of itself: at an interval, and at once when something changes.
 *
 * @module
 */
import type { ServedSnapshots } from './messages.js'
import type { NodeReport } from './node-report.js'

/** What this does not know by itself. */
export type KnownReport = Omit<
  NodeReport,
  'storedBy' | 'answersBy' | 'isDraining' | 'snapshotId' | 'preparedId' | 'held'
>

interface ReportOptions {
  readonly known: () => KnownReport
  readonly tell: (report: NodeReport) => void
}

export class OwnReports {
  readonly #options: ReportOptions
  #answersBy = 0
  #storedBy = 0
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
    this.#answersBy = sequence
    this.tellSoon()
  }

  set storedBy(sequence: number) {
    this.#storedBy = Math.max(this.#storedBy, sequence)
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
    return {
      ...this.#options.known(),
      answersBy: this.#answersBy,
      storedBy: this.#storedBy,
      isDraining: this.#isDraining,
      snapshotId: this.#served?.servedId,
      preparedId: this.#served?.preparedId,
      held: this.#served?.held,
    }
  }

  tell(): void {
    this.#isDue = false
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
