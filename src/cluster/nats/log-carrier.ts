/**
 * Puts what is committed into the stream, on the machine that writes. It looks where the stream ends when it begins, when
 * a message is not taken, and now and then: so a stream that has lost its end, or all of it, gets that again from the
 * journal.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../../chain/link.js'
import { JournalGone } from '../../journal/damaged.js'
import { groupsBehind } from '../../journal/groups.js'
import type { JournalReader } from '../../journal/reader.js'
import { limits } from '../../limits.js'
import type { LogStream } from './log-stream.js'
import type { Opened } from './opened.js'

interface CarrierOptions {
  readonly stream: Opened<LogStream>
  /** Which sees what is committed. */
  readonly reader: JournalReader
  /** The record before the first one that is kept. */
  readonly beginning: () => Link
  readonly linkAt: (sequence: number) => Link | undefined
  /** The stream had lost what was in it. */
  readonly onRepair: (lostFrom: number) => void
  readonly onFault: (fault: unknown) => void
}

interface Place {
  readonly carried: number
  readonly streamSequence: number
}

export class LogCarrier {
  readonly #options: CarrierOptions
  #over: AbortController | undefined
  #poke: () => void = () => {}
  /** The highest batch that was in the stream. */
  #carried = 0

  constructor(options: CarrierOptions) {
    this.#options = options
  }

  /** Up to this batch, the stream has all that it keeps. */
  get carried(): number {
    return this.#carried
  }

  start(): void {
    if (this.#over !== undefined) return
    this.#over = new AbortController()
    void this.#run(this.#over.signal)
  }

  stop(): void {
    this.#over?.abort()
    this.#over = undefined
    this.#poke()
  }

  /** There may be more. */
  poke(): void {
    this.#poke()
  }

  async #run(signal: AbortSignal): Promise<void> {
    let place: Place | undefined
    let hasFailed = false
    while (!signal.aborted) {
      try {
        place ??= await this.#look()
        place = await this.#carryAll(place, signal)
        hasFailed = false
        await this.#untilMore(signal)
        if (!signal.aborted && !(await this.#isAsExpected(place))) place = undefined
      } catch (fault) {
        place = undefined
        if (!hasFailed) this.#options.onFault(fault)
        hasFailed = true
        await sleep(limits.streamRetryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #look(): Promise<Place> {
    const { stream, beginning, linkAt, onRepair } = this.#options
    const { streamSequence, carried } = await stream.use((stream) => stream.end())
    const isOurs = carried !== undefined && linkAt(carried.sequence)?.hash === carried.hash
    const from = isOurs ? carried.sequence : beginning().sequence
    if (from < this.#carried) onRepair(from + 1)
    return { carried: from, streamSequence }
  }

  async #carryAll(from: Place, signal: AbortSignal): Promise<Place> {
    const { stream } = this.#options
    let { carried, streamSequence } = from
    while (!signal.aborted) {
      const groups = this.#behind(carried)
      if (groups === undefined) break
      const expected = streamSequence
      streamSequence = await stream.use((stream) => stream.append(groups, expected))
      carried = groups.last.sequence
      this.#carried = Math.max(this.#carried, carried)
    }
    return { carried, streamSequence }
  }

  #behind(carried: number): ReturnType<typeof groupsBehind> {
    const { reader, beginning } = this.#options
    try {
      return groupsBehind(reader, carried, limits.groupsSentBytes)
    } catch (fault) {
      if (!(fault instanceof JournalGone)) throw fault
      return groupsBehind(reader, beginning().sequence, limits.groupsSentBytes)
    }
  }

  async #isAsExpected({ streamSequence }: Place): Promise<boolean> {
    const { stream } = this.#options
    return await stream.use(
      async (stream) => !stream.isUp || (await stream.lastStreamSequence()) === streamSequence,
    )
  }

  async #untilMore(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limits.streamLookMs)
      this.#poke = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
