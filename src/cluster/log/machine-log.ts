/**
 * The log as one machine uses it: what the machine sends is answered when it is read back in its place, and what all have
 * sent is decided in the order of the log, on each machine alike.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../../chain/link.js'
import type { SentBatch } from '../../journal/batch.js'
import type { BatchOutcome } from '../../journal/outcomes.js'
import { limits } from '../../limits.js'
import type { Beats } from './beats.js'
import { digestOf, type Log, type LogFault, type LogMessage } from './log.js'
import {
  type Beat,
  type GatheredMessage,
  MessageGatherer,
  partsOfSent,
  type SentGroup,
} from './messages.js'

/** A group in its place of the log. */
export interface DecidedGroup {
  readonly place: number
  readonly timeMs: number
  readonly batches: readonly SentBatch[]
}

/** What a machine makes of the log. */
export interface DecidedJournal {
  /** The message of the log up to which the journal has all. */
  readonly place: number
  /** That of this message; undefined where it is not known. */
  readonly digest: string | undefined
  /** The last batch. */
  readonly last: Link
  /**
   * Appends the batches that are new, in order. Where nothing can be written it waits: what it throws ends the process.
   *
   * @returns what became of each of them, which follows from the order of the log alone
   */
  append(group: DecidedGroup): Promise<readonly BatchOutcome[]>
  /** All messages up to here are taken in, also those that change nothing. */
  pass(place: number, digest: string): void
  /** The hash of a batch that it has; undefined where it is kept no more. */
  hashAt(sequence: number): string | undefined
}

/** Why a machine decides nothing more, until somebody has looked. */
export type MachineLogFault =
  | LogFault
  /** A message that comes next may have begun before what is kept. */
  | { readonly kind: 'cut'; readonly place: number }
  /** Another machine has other batches than this one. */
  | { readonly kind: 'diverged'; readonly name: string; readonly sequence: number }

interface MachineLogOptions {
  readonly log: Log
  readonly journal: DecidedJournal
  readonly beats: Beats
  /** The name of the machine. */
  readonly name: string
  /** That of the log of which the journal is. */
  readonly generation: string
  /** Comes again for as long as it lasts; undefined when it is over. */
  readonly onFault: (fault: MachineLogFault | undefined) => void
}

type Outcomes = readonly BatchOutcome[]

export class MachineLog {
  readonly #options: MachineLogOptions
  /** Drawn for this process. */
  readonly #session = randomBytes(8).toString('hex')
  #gatherer: MessageGatherer | undefined
  /** Groups that are on their way into the log: each takes what became of it. */
  readonly #pending = new Map<number, (outcomes: Outcomes | undefined) => void>()
  readonly #stopFollowing: () => void
  /** What is being decided. */
  #taking: Promise<void> = Promise.resolve()
  #lastNumber = 0
  #fault: MachineLogFault | undefined
  #isStopped = false

  constructor(options: MachineLogOptions) {
    this.#options = options
    const { log, journal, generation } = options
    const { place: after, digest } = journal
    this.#stopFollowing = log.follow(
      // So far before, a message may have begun that is whole behind it.
      { after, beforeCount: limits.logMessageSpan, generation, digest },
      {
        onMessages: (messages) => {
          this.#taking = this.#take(messages)
          return this.#taking
        },
        onFault: (fault) => this.#tellFault(fault),
      },
    )
  }

  /** Why nothing is decided now. */
  get fault(): MachineLogFault | undefined {
    return this.#fault
  }

  /**
   * Appends batches as one group, again and again until it is read back. So it may be in the log several times: what comes
   * later is known then.
   *
   * @throws RangeError  as a rejection, for a group that is too long
   * @returns undefined where it was not read back in time; it may be there, or come
   */
  async append(batches: readonly SentBatch[]): Promise<Outcomes | undefined> {
    const number = ++this.#lastNumber
    const parts = this.#partsOf({ kind: 'group', number, batches })
    const over = new AbortController()
    void this.#sendUntil(over.signal, parts)
    const late = setTimeout(() => this.#settle(number, undefined), limits.logWaitMs)
    const outcomes = await new Promise<Outcomes | undefined>((resolve) => {
      this.#pending.set(number, resolve)
    })
    clearTimeout(late)
    over.abort()
    return outcomes
  }

  /** Says in the log that this machine is there. To be called at an interval, and by which it becomes level. */
  async beat(): Promise<void> {
    // A machine with other batches must hear of it, too.
    if (this.#fault !== undefined && this.#fault.kind !== 'diverged') return
    const { name, journal, beats } = this.#options
    const { sequence, hash } = journal.last
    const beat: Beat = { kind: 'beat', name, number: ++this.#lastNumber, sequence, hash }
    beats.sent(beat.number)
    // One that is lost is followed by the next one.
    await this.#send(this.#partsOf(beat)).catch(() => {})
  }

  /** @returns resolves when nothing more is decided */
  stop(): Promise<void> {
    this.#isStopped = true
    this.#stopFollowing()
    for (const number of [...this.#pending.keys()]) this.#settle(number, undefined)
    return this.#taking
  }

  async #sendUntil(signal: AbortSignal, parts: readonly Uint8Array[]): Promise<void> {
    while (!signal.aborted) {
      const isSent =
        this.#fault === undefined &&
        (await this.#send(parts).then(
          () => true,
          () => false,
        ))
      // What was acknowledged is on its way back. What was not may be there all the same.
      const waitMs = isSent ? limits.logAppendMs : limits.logAgainMs
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  #settle(number: number, outcomes: Outcomes | undefined): void {
    this.#pending.get(number)?.(outcomes)
    this.#pending.delete(number)
  }

  #partsOf(sent: SentGroup | Beat): readonly Uint8Array[] {
    const { log, generation } = this.#options
    return partsOfSent(sent, { generation, session: this.#session }, log.messageBytes)
  }

  async #send(parts: readonly Uint8Array[]): Promise<void> {
    await Promise.all(parts.map((part) => this.#options.log.append(part)))
  }

  async #take(messages: readonly LogMessage[]): Promise<void> {
    const { journal } = this.#options
    this.#gatherer ??= new MessageGatherer(messages[0].place)
    for (const message of messages) {
      const gathered = this.#gatherer.add(message)
      if (this.#isStopped || this.#isOver()) return
      // That was decided before this process began.
      if (message.place <= journal.place) continue
      if (gathered === 'cut') this.#tellFault({ kind: 'cut', place: message.place })
      else if (gathered !== undefined) await this.#decide(gathered)
      // While it was decided, the journal may have begun to follow another log.
      if (this.#isStopped || this.#isOver()) return
      journal.pass(message.place, digestOf(message))
    }
  }

  async #decide(message: GatheredMessage): Promise<void> {
    const { journal, generation } = this.#options
    const { place, timeMs, session, sent } = message
    // What was sent before the log was made anew.
    if (sent === undefined || message.generation !== generation) return
    if (sent.kind === 'beat') return this.#hearBeat(sent, session)
    const outcomes = await journal.append({ place, timeMs, batches: sent.batches })
    if (session === this.#session) this.#settle(sent.number, outcomes)
  }

  #hearBeat({ name, number, sequence, hash }: Beat, session: string): void {
    const { journal, beats } = this.#options
    const own = journal.hashAt(sequence)
    if (sequence > journal.last.sequence || (own !== undefined && own !== hash)) {
      this.#tellFault({ kind: 'diverged', name, sequence })
    } else if (session === this.#session) beats.readBack(number, journal.last.sequence)
    else beats.read(name, journal.last.sequence)
  }

  #tellFault(fault: MachineLogFault | undefined): void {
    // A log that was made anew ends all that was wrong with the one before.
    if (!this.#isOver() || fault?.kind === 'other') this.#fault = fault
    this.#options.onFault(this.#fault)
  }

  /** A machine that has other batches than others, or lacks some, has that for good. */
  #isOver(): boolean {
    return this.#fault?.kind === 'diverged' || this.#fault?.kind === 'cut'
  }
}
