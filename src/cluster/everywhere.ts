/**
 * Waiting until all machines that are level answer by an entry, on the machine that writes.
 *
 * @module
 */
import type { Everywhere } from './messages.js'

interface Machine {
  readonly name: string
  /** When a report came last, and by what it answered. */
  readonly heardMs: number
  readonly answersBy: number
}

interface WaitingOptions {
  /** Of this machine. */
  readonly name: string
  readonly nowMs: () => number
  /** A machine that was last heard so long ago is level no more. */
  readonly levelMs: number
}

interface Waiting {
  readonly sequence: number
  /** When it was committed: whoever is level by a report from later on answers by it. */
  readonly sinceMs: number
  readonly untilMs: number
  readonly resolve: (everywhere: Everywhere) => void
}

/** Clocks of machines may differ in speed by less than this. */
const CLOCK_RATE = 1.1

export class EverywhereDesk {
  readonly #options: WaitingOptions
  /** Those whose disks count, but for this one. */
  readonly #others: () => readonly string[]
  readonly #machines = new Map<string, Machine>()
  /** When this machine began to write: until then, others may have become level by another one. */
  #sinceMs = Number.POSITIVE_INFINITY
  #answersBy = 0
  #waiting: Waiting[] = []

  constructor(options: WaitingOptions, others: () => readonly string[]) {
    this.#options = options
    this.#others = others
  }

  /** This machine writes from now on. */
  begin(): void {
    this.#sinceMs = this.#options.nowMs()
  }

  /** Another one does. */
  end(): void {
    this.#sinceMs = Number.POSITIVE_INFINITY
    for (const { resolve } of this.#waiting.splice(0)) {
      resolve({ isEverywhere: false, waitingFor: [] })
    }
  }

  heard(name: string, answersBy: number): void {
    this.#machines.set(name, { name, heardMs: this.#options.nowMs(), answersBy })
    this.look()
  }

  /** This machine itself answers by all up to here. */
  answersBy(sequence: number): void {
    this.#answersBy = Math.max(this.#answersBy, sequence)
    this.look()
  }

  /** @param sequence  which is committed */
  until(sequence: number, waitMs: number): Promise<Everywhere> {
    const nowMs = this.#options.nowMs()
    return new Promise((resolve) => {
      this.#waiting.push({ sequence, sinceMs: nowMs, untilMs: nowMs + waitMs, resolve })
      this.look()
    })
  }

  /** To be called now and then, too. */
  look(): void {
    if (this.#waiting.length === 0) return
    const nowMs = this.#options.nowMs()
    this.#waiting = this.#waiting.filter((waiting) => {
      const waitingFor = this.#waitingFor(waiting, nowMs)
      if (waitingFor.length > 0 && nowMs < waiting.untilMs) return true
      waiting.resolve({ isEverywhere: waitingFor.length === 0, waitingFor })
      return false
    })
  }

  #waitingFor({ sequence, sinceMs }: Waiting, nowMs: number): string[] {
    const isLevelNoMore = (heardMs: number) =>
      nowMs >
      Math.max(this.#sinceMs, Math.min(heardMs, sinceMs)) + CLOCK_RATE * this.#options.levelMs
    const waitingFor = this.#others().filter((name) => {
      const machine = this.#machines.get(name)
      if (machine !== undefined && machine.answersBy >= sequence) return false
      return !isLevelNoMore(machine?.heardMs ?? 0)
    })
    return this.#answersBy >= sequence ? waitingFor : [this.#options.name, ...waitingFor]
  }
}
