/**
 * The front thread's end of its audience thread, which is started by the first request for an audience and
 * replaced by the next one if it dies.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { Caller } from '../pool/tasks.js'
import { Questions } from '../threads/calls.js'
import type {
  AudienceAnswers,
  AudienceOrder,
  AudienceReport,
  AudienceRequest,
  AudienceThreadData,
} from './messages.js'

type OrderOf<Kind extends AudienceOrder['kind']> = Extract<AudienceOrder, { kind: Kind }>

export interface Audiences {
  /**
   * Has the thread carry out an order for somebody who waits.
   *
   * @throws ServiceError  as a rejection
   */
  ask<Kind extends AudienceOrder['kind']>(
    order: OrderOf<Kind>,
    caller: Caller,
  ): Promise<AudienceAnswers[Kind]>
  /**
   * Lets a request in, until its caller is over.
   *
   * @throws ServiceError  Overloaded
   */
  admit(caller: Caller): void
  /** Waits for what the thread is at, and ends it. */
  close(): Promise<void>
}

interface AudiencesOptions {
  readonly dataDirectory: string
  /** Whether the store says which audiences there are, as in a cluster, and not the disk. Not unless given. */
  readonly isShared?: boolean
  /** URL of the compiled workers/audience.ts. */
  readonly workerUrl: string
  readonly log: Log
}

export function startAudiences(options: AudiencesOptions): Audiences {
  let thread: AudienceThread | undefined
  let openCount = 0
  let isClosing = false
  return {
    ask(order, caller) {
      if (isClosing || caller.gone) return Promise.reject(unavailable('whoever asked has gone'))
      if (thread === undefined || thread.isOver) thread = new AudienceThread(options)
      return thread.ask(order, caller.deadlineMs)
    },
    admit(caller) {
      if (openCount >= limits.audienceListCount) throw OVERLOADED
      openCount++
      caller.whenOver(() => openCount--)
    },
    async close() {
      isClosing = true
      await thread?.close()
    },
  }
}

class AudienceThread {
  isOver = false
  readonly #worker: Worker
  readonly #questions = new Questions<AudienceReport>()
  readonly #ended: Promise<void>
  readonly #log: Log

  constructor({ dataDirectory, isShared = false, workerUrl, log }: AudiencesOptions) {
    const workerData: AudienceThreadData = { dataDirectory, isShared }
    this.#log = log
    this.#worker = new Worker(new URL(workerUrl), { workerData })
    this.#worker.on('message', (report: AudienceReport) =>
      this.#questions.settle(report.number, report),
    )
    // Its message could quote what it was working on.
    this.#worker.once('error', (fault: Error) =>
      log.error(describeFault(fault), 'the audience thread failed'),
    )
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.isOver = true
        this.#questions.fail(unavailable('the thread of the audiences ended; try again'))
        resolve()
      })
    })
  }

  async ask<Kind extends AudienceOrder['kind']>(
    order: OrderOf<Kind>,
    deadlineMs: number,
  ): Promise<AudienceAnswers[Kind]> {
    const send = (number: number) =>
      this.#worker.postMessage({ kind: 'ask', number, order } satisfies AudienceRequest)
    const waitMs = Math.max(1, deadlineMs - performance.now())
    const late = () => unavailable('the disk of the audiences took too long; try again')
    const { value, fault } = await this.#questions.ask(send, { waitMs, fault: late })
    if (fault === undefined) return value as AudienceAnswers[Kind]
    const { code, message, field, reason } = fault
    if (reason !== undefined) this.#log.error({ code, reason }, message)
    throw new ServiceError(code, message, field)
  }

  async close(): Promise<void> {
    this.#worker.postMessage({ kind: 'stop' } satisfies AudienceRequest)
    // It ends with the front thread at the latest. To end it while it loads would abort the process.
    await Promise.race([this.#ended, sleep(limits.audienceStopMs, undefined, { ref: false })])
  }
}

function unavailable(message: string): ServiceError {
  return new ServiceError('Unavailable', message)
}
