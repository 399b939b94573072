/**
 * Batches on a machine of a cluster: the one that writes answers when enough machines have them, and the others hand
 * them over to it.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { MessagePort } from 'node:worker_threads'
import type { PreparedBatch } from '../journal/batch.js'
import type { BatchOutcome, JournalWriter } from '../journal/writer.js'
import type { BatchWriting, TakenBatch } from './batch-writing.js'
import type { Handed, JournalNews, JournalOrder } from './cluster-messages.js'

/** A batch that is in the journal, and not committed yet. */
interface Written {
  readonly taken: TakenBatch
  readonly outcome: BatchOutcome
}

interface ClusteredOptions {
  /** To the thread of the cluster. */
  readonly port: MessagePort
  readonly writer: JournalWriter
  /** Which calls `hold` with what is written. */
  readonly writing: BatchWriting
}

export class ClusteredBatches {
  readonly #options: ClusteredOptions
  #committed = 0
  #written: Written[] = []
  readonly #handed = new Map<number, TakenBatch>()
  #lastNumber = 0
  /** Whether batches are written here, kept, or handed over. */
  #mode: 'write' | 'keep' | 'handOver' = 'handOver'

  constructor(options: ClusteredOptions) {
    this.#options = options
    options.port.on('message', (order: JournalOrder) => this.#carryOut(order))
    options.writing.pause()
  }

  take(taken: TakenBatch): void {
    if (this.#mode === 'handOver') this.#hand(taken)
    else this.#options.writing.take(taken)
  }

  /** Keeps those who wait until their batches are committed. */
  hold(group: readonly TakenBatch[], outcomes: readonly BatchOutcome[]): void {
    for (const [at, taken] of group.entries()) {
      this.#written.push({ taken, outcome: outcomes[at] })
    }
    this.#settle()
    this.#tell({ kind: 'wrote' })
  }

  /** Nothing can be written. */
  failed(): void {
    this.#tell({ kind: 'failed' })
  }

  async #carryOut(order: JournalOrder): Promise<void> {
    const { writer, writing } = this.#options
    switch (order.kind) {
      case 'begin':
        return await this.#do(order.number, () => {
          this.#enter(order.entry)
          this.#mode = 'write'
          writing.resume()
        })
      case 'enter':
        // It would stand behind what another machine wrote, as if that had written it.
        if (this.#mode !== 'write') {
          const fault = 'another machine writes by now'
          return this.#tell({ kind: 'done', number: order.number, fault })
        }
        return await this.#do(order.number, () => this.#enter(order.entry))
      case 'stop':
        this.#mode = 'keep'
        writing.pause()
        return this.#tell({ kind: 'done', number: order.number })
      case 'goOn':
        this.#mode = 'write'
        return writing.resume()
      case 'handOver':
        return this.#handOverAll()
      case 'copy':
        return await this.#do(order.number, () => writer.copy(bufferOf(order.groups)))
      case 'cutBack':
        return await this.#do(order.number, () => writer.cutBack(order.sequence))
      case 'remove':
        return await this.#remove(order.number, order.upTo)
      case 'commit':
        return this.#commit(order.sequence)
      case 'handed':
        return this.#answerHanded(order.number, order)
    }
  }

  #enter(entry: PreparedBatch): void {
    const [{ kind }] = this.#options.writer.append([entry])
    assert(kind === 'written', 'an entry of a cluster has an id of its own')
  }

  async #do(number: number, work: () => unknown): Promise<void> {
    const { writing, writer } = this.#options
    try {
      await work()
      writing.succeeds()
      this.#tell({ kind: 'done', number })
    } catch (fault) {
      writing.fails(fault)
      await writer.release().catch(() => {})
      const { code, message } = fault as NodeJS.ErrnoException
      this.#tell({ kind: 'done', number, fault: code ?? message })
    }
  }

  /** What stays is removed the next time, so that nobody is refused for it. */
  async #remove(number: number, upTo: number): Promise<void> {
    const { writer } = this.#options
    try {
      writer.truncate(upTo)
      this.#tell({ kind: 'done', number })
    } catch (fault) {
      await writer.release().catch(() => {})
      const { code, message } = fault as NodeJS.ErrnoException
      this.#tell({ kind: 'done', number, fault: code ?? message })
    }
  }

  #commit(sequence: number): void {
    const { writer, writing } = this.#options
    try {
      this.#committed = writer.commit(sequence)
    } catch (fault) {
      // The next commit says the same, and more.
      writing.fails(fault)
    }
    this.#settle()
  }

  #settle(): void {
    const isCommitted = ({ outcome }: Written) => outcome.sequence <= this.#committed
    const settled = this.#written.filter(isCommitted)
    if (settled.length === 0) return
    this.#written = this.#written.filter((each) => !isCommitted(each))
    for (const { taken, outcome } of settled) taken.answer({ outcome })
  }

  /** What was written here and is taken back is written by the other machine; what is not is known to it. */
  #handOverAll(): void {
    if (this.#mode === 'handOver') return
    this.#mode = 'handOver'
    const written = this.#written.map(({ taken }) => taken)
    this.#written = []
    for (const taken of [...written, ...this.#options.writing.takeBack()]) this.#hand(taken)
  }

  #hand(taken: TakenBatch): void {
    const number = ++this.#lastNumber
    this.#handed.set(number, taken)
    this.#tell({ kind: 'hand', number, batch: taken.batch })
  }

  #answerHanded(number: number, { outcome, isFull }: Handed): void {
    const taken = this.#handed.get(number)
    this.#handed.delete(number)
    taken?.answer({ ...(outcome !== undefined && { outcome }), ...(isFull && { isFull }) })
  }

  #tell(news: JournalNews): void {
    this.#options.port.postMessage(news)
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
