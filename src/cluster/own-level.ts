/**
 * Keeps this machine level: when the writer has heard it, and when most members have heard the writer.
 *
 * @module
 */
import type { Agreement } from './agreement/agreement.js'
import type { ClusterLog } from './cluster-log.js'
import { writeFigures } from './figures.js'
import { Level } from './level.js'
import type { ClusterSettings } from './messages.js'
import type { NodeReport } from './node-report.js'
import type { NodeReports } from './node-reports.js'

interface OwnLevelOptions {
  readonly settings: Pick<ClusterSettings, 'name' | 'acks' | 'maxLagMs'>
  readonly agreement: Pick<Agreement, 'epoch' | 'isMember' | 'isWriter' | 'members'>
  readonly journal: Pick<ClusterLog, 'committed' | 'epochSequence' | 'membersSequence'>
  readonly reports: NodeReports
  readonly figures: Float64Array
  readonly isDraining: () => boolean
  /** A clock that goes on while the process is stopped. */
  readonly nowMs: () => number
}

export class OwnLevel {
  readonly #options: OwnLevelOptions
  readonly #level: Level
  #roleChangeCount = 0

  constructor(options: OwnLevelOptions) {
    this.#options = options
    this.#level = new Level(options.settings.maxLagMs, options.nowMs)
  }

  /** For so long yet; 0 where it is not. */
  get leftMs(): number {
    return Math.max(0, this.#level.untilMs - this.#options.nowMs())
  }

  /** Another machine writes, or this one begins to. */
  begin(): void {
    this.#roleChangeCount++
    this.#level.begin()
    this.tell()
  }

  answersBy(sequence: number): void {
    this.#level.answersBy(sequence)
    this.tell()
  }

  /** A report is on its way. */
  sent(number: number): void {
    this.#level.sent(number)
  }

  /** As the writer: what it tells the others. */
  echoes(): Readonly<Record<string, number>> {
    return this.#level.echoes()
  }

  /** A report of another machine has come, and is noted. */
  heard({ agreement, number, echoes }: NodeReport): void {
    const { name } = this.#options.settings
    const { isWriter, epoch } = this.#options.agreement
    const echo = echoes[name]
    if (isWriter) {
      // Nobody waits for others.
      if (this.#options.agreement.isMember(agreement)) this.#level.heard(agreement.name, number)
      this.confirm()
    } else if (agreement.isWriter && agreement.epoch === epoch && echo !== undefined) {
      this.#level.echoed(echo, agreement.committed)
      this.tell()
    }
  }

  /** As the writer: sees whether most members follow it, and have heard a report of it. */
  confirm(): void {
    const { settings, agreement, journal, reports, nowMs } = this.#options
    if (settings.acks === 'one' || !agreement.isWriter || !this.#isSettled()) return
    const { name } = settings
    const { epoch } = agreement
    const wasSent = (number: number) => this.#level.wasSent(number)
    const number = reports.echoedByMajority(agreement.members(), { name, epoch }, wasSent)
    if (number === undefined) return
    const before = this.#level.untilMs
    // Alone, nobody else can be the writer.
    if (number === Number.POSITIVE_INFINITY) {
      this.#level.confirmedAt(nowMs(), journal.committed())
    } else this.#level.confirmed(number, journal.committed())
    if (this.#level.untilMs !== before) this.tell()
  }

  /** The lease was held at this time: where one disk is enough, that is what says who writes. */
  leaseHeld(atMs: number): void {
    const { settings, journal } = this.#options
    if (settings.acks !== 'one' || !this.#isSettled()) return
    this.#level.confirmedAt(atMs, journal.committed())
    this.tell()
  }

  /** To all threads. */
  tell(): void {
    writeFigures(this.#options.figures, {
      levelUntilMs: this.#level.untilMs,
      isWriter: this.#options.agreement.isWriter,
      isDraining: this.#options.isDraining(),
      roleChangeCount: this.#roleChangeCount,
    })
  }

  /**
   * As the writer: whether it knows of all that earlier writers have committed that it is, and whether every later one
   * knows whom to wait for.
   */
  #isSettled(): boolean {
    const { journal } = this.#options
    return Math.max(journal.epochSequence(), journal.membersSequence()) <= journal.committed()
  }
}
