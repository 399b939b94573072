/**
 * Until when a machine is *level*: it answers by all that was acknowledged until a time, of which it can be sure for
 * `maxLagMs`. Whoever acknowledges that a number is suppressed waits until all level machines answer by that, or are level
 * no more, so that no clock of one machine is compared with that of another.
 *
 * - Each machine numbers its reports, and notes when it sent them.
 * - The writer is *confirmed* at a time if most members have heard a report that it sent then: nobody else was the writer
 *   before. It echoes of each machine the last report that came before the last time at which it was confirmed, and says
 *   what was committed.
 * - Once a machine answers by all of that, it is level for `maxLagMs` from when it sent that report.
 *
 * These are leases as in Gray and Cheriton, "Leases: an efficient fault-tolerant mechanism for distributed file cache
 * consistency" (1989).
 *
 * @module
 */
import { limits } from '../limits.js'

interface Timed {
  readonly number: number
  readonly atMs: number
}

/** What a machine will be level by, once it answers by all up to a sequence. */
interface Promised {
  readonly untilMs: number
  readonly required: number
}

export class Level {
  readonly #maxLagMs: number
  readonly #nowMs: () => number
  /** Own reports. */
  #sent: Timed[] = []
  #promised: Promised[] = []
  #untilMs = Number.NEGATIVE_INFINITY
  #effective = 0
  /** As the writer: reports of others that came since the last confirmation, and the last one before. */
  readonly #heard = new Map<string, Timed[]>()
  readonly #echoed = new Map<string, number>()
  #confirmedMs = Number.NEGATIVE_INFINITY

  constructor(maxLagMs: number, nowMs: () => number) {
    this.#maxLagMs = maxLagMs
    this.#nowMs = nowMs
  }

  /** By the clock that was given; it may be over. */
  get untilMs(): number {
    return this.#untilMs
  }

  /** A report is on its way. */
  sent(number: number): void {
    this.#sent.push({ number, atMs: this.#nowMs() })
    if (this.#sent.length > limits.reportsNotedCount) this.#sent.shift()
  }

  /** Whether it is one of the last reports of this process. */
  wasSent(number: number): boolean {
    return this.#sentAt(number) !== undefined
  }

  /** The machine answers by all up to here. */
  answersBy(sequence: number): void {
    this.#effective = Math.max(this.#effective, sequence)
    this.#settle()
  }

  /**
   * The writer has echoed a report.
   *
   * @param required  what was committed then
   */
  echoed(number: number, required: number): void {
    const sent = this.#sentAt(number)
    if (sent !== undefined) this.#promise(sent, required)
  }

  /** As the writer: a report of another machine has come. */
  heard(name: string, number: number): void {
    const heard = this.#heard.get(name) ?? []
    this.#heard.set(name, heard)
    heard.push({ number, atMs: this.#nowMs() })
    if (heard.length > limits.reportsNotedCount) heard.shift()
  }

  /**
   * As the writer: most members have heard a report.
   *
   * @param committed  now
   */
  confirmed(number: number, committed: number): void {
    const sentMs = this.#sentAt(number)
    if (sentMs !== undefined) this.confirmedAt(sentMs, committed)
  }

  /** The same of a time at which nobody else can have been the writer. */
  confirmedAt(atMs: number, committed: number): void {
    if (atMs <= this.#confirmedMs) return
    this.#confirmedMs = atMs
    for (const [name, heard] of this.#heard) {
      const before = heard.findLast((one) => one.atMs <= atMs)
      if (before === undefined) continue
      this.#echoed.set(name, before.number)
      this.#heard.set(
        name,
        heard.filter((one) => one.atMs > atMs),
      )
    }
    this.#promise(atMs, committed)
  }

  /** As the writer: what it tells the others. */
  echoes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#echoed)
  }

  /** Another machine writes, or this one begins to. */
  begin(): void {
    this.#heard.clear()
    this.#echoed.clear()
    this.#confirmedMs = Number.NEGATIVE_INFINITY
  }

  #sentAt(number: number): number | undefined {
    return this.#sent.find((one) => one.number === number)?.atMs
  }

  #promise(atMs: number, required: number): void {
    const untilMs = atMs + this.#maxLagMs
    if (untilMs <= this.#untilMs) return
    this.#promised = this.#promised.filter((one) => one.untilMs > this.#untilMs)
    this.#promised.push({ untilMs, required })
    if (this.#promised.length > limits.reportsNotedCount) this.#promised.shift()
    this.#settle()
  }

  #settle(): void {
    for (const { untilMs, required } of this.#promised) {
      if (required <= this.#effective) this.#untilMs = Math.max(this.#untilMs, untilMs)
    }
  }
}
