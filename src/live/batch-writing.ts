/**
 * Writes to the journal what came together from all front threads, as one group with one sync.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { recordBytes } from '../journal/record.js'
import type { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import type { BatchReply, LiveNews } from './messages.js'

/** A batch whose sender waits for an answer. */
export interface TakenBatch {
  readonly batch: PreparedBatch
  /** To be called once. */
  answer(reply: BatchReply): void
}

interface WritingOptions {
  readonly writer: JournalWriter
  /** For further changes. */
  readonly roomCount: () => number
  /** A group is on disk. */
  readonly onWritten: (group: readonly TakenBatch[], outcomes: readonly BatchOutcome[]) => void
  readonly tell: Pick<LiveNews, 'failed' | 'recovered'>
}

export class BatchWriting {
  readonly #options: WritingOptions
  /** What was not written yet, in the order in which it came. */
  #queue: TakenBatch[] = []
  #isScheduled = false
  #failure: string | undefined
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: WritingOptions) {
    this.#options = options
  }

  take(taken: TakenBatch): void {
    this.#queue.push(taken)
    this.#schedule()
  }

  /** Writes what has come. */
  write(): void {
    this.#isScheduled = false
    // Until the next attempt, batches are refused.
    if (this.#retryTimer !== undefined) this.#refuseAll()
    else if (this.#queue.length > 0) this.#writeGroup()
    // A turn later, so that the answers of this group are sent first.
    if (this.#queue.length > 0) this.#schedule()
  }

  /** The writer cannot write: what comes until the next attempt is refused. */
  fails(fault: unknown): void {
    const { code, message } = fault as NodeJS.ErrnoException
    const reason = fault instanceof OperatorError ? message : (code ?? message)
    if (this.#failure !== reason) this.#options.tell.failed(reason)
    this.#failure = reason
    this.#refuseAll()
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(async () => {
      await this.#options.writer.release().catch(() => {})
      this.#retryTimer = undefined
      this.#tryAgain()
    }, limits.journalRetryMs)
  }

  /** The writer has written something. */
  succeeds(): void {
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#options.tell.recovered()
  }

  close(): void {
    clearTimeout(this.#retryTimer)
  }

  #takeBack(): TakenBatch[] {
    const taken = this.#queue
    this.#queue = []
    return taken
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After all that has come by now.
    setImmediate(() => this.write())
  }

  #writeGroup(): void {
    const { writer, roomCount, onWritten } = this.#options
    const group = nextGroup(this.#queue, roomCount())
    if (group.length === 0) {
      this.#refuseChanges()
      return
    }
    try {
      const outcomes = writer.append(group.map(({ batch }) => batch))
      this.#queue = this.#queue.slice(group.length)
      onWritten(group, outcomes)
      for (const [at, taken] of group.entries()) taken.answer({ outcome: outcomes[at] })
      this.succeeds()
    } catch (fault) {
      this.fails(fault)
    }
  }

  #refuseAll(): void {
    for (const taken of this.#takeBack()) taken.answer({})
  }

  /** For which there is no room. */
  #refuseChanges(): void {
    for (const taken of this.#takeBack()) taken.answer({ isFull: true })
  }

  /** Also where nothing waits, so that no batch has to be refused to find out. */
  #tryAgain(): void {
    if (this.#queue.length > 0) return
    try {
      this.#options.writer.prepare()
      this.succeeds()
    } catch (fault) {
      this.fails(fault)
    }
  }
}

/**
 * As much as is written together; nothing where there is no room for the first one. What changes nothing needs no room,
 * also where there are more changes than may be.
 */
export function nextGroup(queue: readonly TakenBatch[], roomCount: number): readonly TakenBatch[] {
  const most = Math.max(0, roomCount)
  let bytes = 0
  let changeCount = 0
  const end = queue.findIndex(({ batch }) => {
    bytes += recordBytes(batch)
    changeCount += batch.changeCount
    return bytes > limits.journalGroupBytes || changeCount > most
  })
  return end < 0 ? queue : queue.slice(0, end)
}
