/**
 * Until when a machine is *level*: it answers by all that was acknowledged until a time, of which it can be sure for
 * `maxLagMs`. A machine that acknowledges a suppressed number waits until all level machines answer by that, or are level
 * no more, so that no clock of one machine is compared with that of another.
 *
 * - Each machine puts beats into the log, and notes when it sent them.
 * - What was acknowledged before a beat was sent is before it in the log. So a machine that reads its own beat back, and
 *   answers by all before it, is level for `maxLagMs` from when it sent it. A machine that is cut off reads none.
 * - Only a beat before an entry makes a machine level without it, for `maxLagMs` from when that beat was read, at most.
 *
 * These are leases as in Gray and Cheriton, "Leases: an efficient fault-tolerant mechanism for distributed file cache
 * consistency" (1989). They rest on three things:
 *
 * - Clocks go on while a process or its virtual machine is paused, and differ in speed by less than a tenth.
 * - A machine is level as a member alone, and for the `maxLagMs` that its entry among the members says. Which machines are
 *   members follows from the log up to where it was read. One that was removed stays a member for so long after its removal
 *   was read as it may be level.
 * - A machine that has just started, or has passed over a part of the log, takes each member for one that has beaten then:
 *   it does not know earlier beats.
 *
 * @module
 */
import { limits } from '../../limits.js'
import type { Everywhere } from '../messages.js'

interface BeatsOptions {
  /** The name of this machine. */
  readonly name: string
  readonly nowMs: () => number
  /** Also those that were removed, for as long as they may be level. */
  readonly members: () => readonly LevelMember[]
  /** Whether this machine is one that was not removed. */
  readonly isMember: () => boolean
}

interface LevelMember {
  readonly name: string
  readonly maxLagMs: number
}

interface SentBeat {
  readonly number: number
  readonly atMs: number
}

/** A beat in its place among the batches: behind the one with this sequence. */
interface ReadBeat {
  readonly sequence: number
  readonly atMs: number
}

interface Waiting {
  readonly sequence: number
  readonly untilMs: number
  readonly resolve: (everywhere: Everywhere) => void
}

export class Beats {
  readonly #options: BeatsOptions
  #startedMs: number
  /** Own ones that were not read back. */
  #sent: SentBeat[] = []
  /** Own ones that were, by which this machine is not level yet. */
  #own: { readonly sequence: number; readonly untilMs: number }[] = []
  #levelUntilMs = Number.NEGATIVE_INFINITY
  #answersBy = 0
  #storedBy = 0
  /** The last beats of other machines that count. */
  readonly #read = new Map<string, ReadBeat[]>()
  /** What others say that they have in their stores. */
  readonly #reported = new Map<string, number>()
  #waiting: Waiting[] = []

  constructor(options: BeatsOptions) {
    this.#options = options
    this.#startedMs = options.nowMs()
  }

  /** By the clock that was given; it may be over. */
  get levelUntilMs(): number {
    return this.#levelUntilMs
  }

  /** A beat of this process is on its way. */
  sent(number: number): void {
    this.#sent.push({ number, atMs: this.#options.nowMs() })
    if (this.#sent.length > limits.beatsNotedCount) this.#sent.shift()
  }

  /**
   * A beat of this process is in the log.
   *
   * @param sequence  of the last batch before it
   */
  readBack(number: number, sequence: number): void {
    const sent = this.#sent.find((one) => one.number === number)
    const me = this.#member(this.#options.name)
    if (sent === undefined || me === undefined || !this.#options.isMember()) return
    this.#sent = this.#sent.filter((one) => one.number > number)
    this.#own.push({ sequence, untilMs: sent.atMs + me.maxLagMs })
    this.#settleLevel()
  }

  /** This machine answers by all batches up to here. */
  answersBy(sequence: number): void {
    // Answers have gone back: it is level again by a beat behind which it answers.
    if (sequence < this.#answersBy) this.#levelUntilMs = Number.NEGATIVE_INFINITY
    this.#answersBy = sequence
    this.#settleLevel()
    this.storedBy(sequence)
  }

  /** This machine answers by all entries of the store up to here, if not by all changes of recipients. */
  storedBy(sequence: number): void {
    this.#storedBy = Math.max(this.#storedBy, sequence)
    this.look()
  }

  /** A beat of another machine, or of an earlier process of this one, is in the log. */
  read(name: string, sequence: number): void {
    const nowMs = this.#options.nowMs()
    const member = this.#member(name)
    if (member === undefined) return
    const counts = ({ atMs }: ReadBeat) => nowMs <= overMs(atMs, member)
    const last = (this.#read.get(name) ?? []).filter(counts)
    last.push({ sequence, atMs: nowMs })
    if (last.length > limits.beatsNotedCount) {
      // As one beat that makes level by less, and for longer, than either.
      const [first, second] = last
      last.splice(0, 2, { sequence: first.sequence, atMs: second.atMs })
    }
    this.#read.set(name, last)
  }

  /** Another machine says by what entries of the store it answers. */
  reported(name: string, storedBy: number): void {
    this.#reported.set(name, storedBy)
    this.look()
  }

  /** A part of the log was passed over, or it is another one: the beats in it are not known. */
  skipped(): void {
    this.#startedMs = this.#options.nowMs()
    this.#read.clear()
    this.#reported.clear()
    this.#own = []
    this.#sent = []
  }

  /**
   * Resolves when all level machines answer by an entry of the store that was read, or not in time.
   */
  until(sequence: number, waitMs: number): Promise<Everywhere> {
    const untilMs = this.#options.nowMs() + waitMs
    return new Promise((resolve) => {
      this.#waiting.push({ sequence, untilMs, resolve })
      this.look()
    })
  }

  /** To be called now and then, too. */
  look(): void {
    if (this.#waiting.length === 0) return
    const nowMs = this.#options.nowMs()
    this.#waiting = this.#waiting.filter(({ sequence, untilMs, resolve }) => {
      const waitingFor = this.#waitingFor(sequence, nowMs)
      if (waitingFor.length > 0 && nowMs < untilMs) return true
      resolve({ isEverywhere: waitingFor.length === 0, waitingFor })
      return false
    })
  }

  #waitingFor(sequence: number, nowMs: number): string[] {
    const { name: me, members } = this.#options
    const isAwaited = (member: LevelMember) => {
      const { name } = member
      if (name === me) return this.#storedBy < sequence && nowMs <= this.#ownLevelWithout(sequence)
      if ((this.#reported.get(name) ?? 0) >= sequence) return false
      return nowMs <= overMs(this.#lastBefore(name, sequence), member)
    }
    return members()
      .filter(isAwaited)
      .map(({ name }) => name)
  }

  #member(name: string): LevelMember | undefined {
    return this.#options.members().find((member) => member.name === name)
  }

  /** Until when this machine is level without a batch, or may become so by beats that were read before it. */
  #ownLevelWithout(sequence: number): number {
    let untilMs = this.#levelUntilMs
    for (const own of this.#own) {
      if (own.sequence < sequence) untilMs = Math.max(untilMs, own.untilMs)
    }
    return untilMs
  }

  /** When the last beat of another machine was read that makes it level without a batch. */
  #lastBefore(name: string, sequence: number): number {
    const before = this.#read.get(name)?.findLast((beat) => beat.sequence < sequence)
    return Math.max(before?.atMs ?? this.#startedMs, this.#startedMs)
  }

  #settleLevel(): void {
    this.#own = this.#own.filter(({ sequence, untilMs }) => {
      if (sequence > this.#answersBy) return true
      this.#levelUntilMs = Math.max(this.#levelUntilMs, untilMs)
      return false
    })
    if (this.#own.length > limits.beatsNotedCount) this.#own.shift()
  }
}

/** When a machine is level no more by a beat that was read then, at the latest. */
function overMs(readMs: number, { maxLagMs }: LevelMember): number {
  return readMs + limits.clockSpeedRatio * maxLagMs
}
