/**
 * Batches that front threads of this machine hand in, and another machine writes. A batch is sent again, with the same id,
 * until somebody has written it: nobody writes it twice.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { type PreparedBatch, prepared } from '../journal/batch.js'
import { limits } from '../limits.js'
import type { Handed, JournalNews, JournalOrder } from '../live/cluster-messages.js'
import type { ChangeDesk } from '../live/desk.js'
import { type AskNode, sentBatch } from './questions.js'

interface HandingOptions {
  readonly ask: AskNode
  readonly name: string
  /** The machine that writes, as far as is known. */
  readonly writer: () => string | undefined
  /** Writes on this machine, if that is the writer by now. */
  readonly append: (batch: PreparedBatch) => Promise<Handed & { readonly isElsewhere?: boolean }>
  /** Up to here readers of this machine see batches. */
  readonly committed: () => number
  /** Whether this machine takes no part any more. */
  readonly isOver: () => boolean
}

type HandNews = Extract<JournalNews, { kind: 'hand' }>

/** Writes a batch on this machine. */
export async function appendHere(desk: ChangeDesk, batch: PreparedBatch): Promise<Handed> {
  try {
    // The desk gives the memory away, and this may be a part of the library's, or be sent once more.
    const content = new Uint8Array(batch.content)
    const { outcome } = await desk.append({ ...batch, content })
    return { outcome }
  } catch (fault) {
    return (fault as { code?: string }).code === 'Overloaded' ? { isFull: true } : {}
  }
}

export class HandedBatches {
  readonly #options: HandingOptions

  constructor(options: HandingOptions) {
    this.#options = options
  }

  /** Hands on what the thread of changes has handed over, and tells it what became of that. */
  async answer(port: MessagePort, { number, batch }: HandNews): Promise<void> {
    const outcome = await this.hand(prepared(batch))
    port.postMessage({ kind: 'handed', number, ...outcome } satisfies JournalOrder)
  }

  /** Resolves when the batch is committed and seen here, or nobody has written it in time. */
  async hand(batch: PreparedBatch): Promise<Handed> {
    const untilMs = performance.now() + limits.handedBatchMs
    let wasSent = false
    while (performance.now() < untilMs && !this.#options.isOver()) {
      const handed = await this.#once(batch, untilMs - performance.now())
      if (handed?.isFull) return { isFull: true }
      if (handed?.outcome !== undefined) {
        const { outcome } = handed
        await this.#untilSeen(outcome.sequence, untilMs)
        // By the attempt of which nothing was heard.
        const isOurs = wasSent && outcome.kind === 'repeated'
        return { outcome: isOurs ? { ...outcome, kind: 'written' } : outcome }
      }
      wasSent = true
      await sleep(limits.handAgainMs)
    }
    return {}
  }

  async #once(batch: PreparedBatch, waitMs: number) {
    const { ask, name, writer, append } = this.#options
    const to = writer()
    if (to === undefined) return undefined
    try {
      if (to === name) return await append(batch)
      const question = { kind: 'append', batch: sentBatch(batch) } as const
      const asked = ask<'append'>(to, question, Math.min(waitMs, limits.handOnceMs))
      return await this.#whileWriting(to, asked)
    } catch {
      // It may have been written all the same.
      return undefined
    }
  }

  /** Undefined as soon as another machine writes: the one that was asked may stand still. */
  async #whileWriting<Answer>(to: string, asked: Promise<Answer>): Promise<Answer | undefined> {
    let timer: NodeJS.Timeout | undefined
    const replaced = new Promise<undefined>((resolve) => {
      timer = setInterval(() => {
        if (this.#options.writer() !== to) resolve(undefined)
      }, limits.handAgainMs)
    })
    try {
      return await Promise.race([asked, replaced])
    } finally {
      clearInterval(timer)
    }
  }

  async #untilSeen(sequence: number, untilMs: number): Promise<void> {
    while (this.#options.committed() < sequence && performance.now() < untilMs) await sleep(1)
  }
}
