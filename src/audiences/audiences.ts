/**
 * The front thread's end of its audience thread, which is started by the first request for an audience and
 * replaced by the next one if it dies.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError, OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { Caller } from '../pool/tasks.js'
import { startThread, type Thread } from '../threads/thread.js'
import type {
  AudienceAnswers,
  AudienceCalls,
  AudienceNews,
  AudienceOrder,
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
  readonly #thread: Thread<AudienceCalls>

  constructor({ dataDirectory, isShared = false, log }: AudiencesOptions) {
    const data: AudienceThreadData = { dataDirectory, isShared }
    const own: AudienceNews = {
      failed: (code, message, reason) => log.error({ code, reason }, message),
    }
    const title = 'the audience thread'
    this.#thread = startThread<AudienceCalls>('audience', { title, data, own, log })
    void this.#thread.ended.then(() => {
      this.isOver = true
    })
  }

  async ask<Kind extends AudienceOrder['kind']>(
    order: OrderOf<Kind>,
    deadlineMs: number,
  ): Promise<AudienceAnswers[Kind]> {
    const waitMs = Math.max(1, deadlineMs - performance.now())
    const late = () => unavailable('the disk of the audiences took too long; try again')
    try {
      const answer = await this.#thread.askWithin(waitMs, late).carryOut(order)
      return answer as AudienceAnswers[Kind]
    } catch (fault) {
      if (!(fault instanceof OperatorError)) throw fault
      throw unavailable('the thread of the audiences ended; try again')
    }
  }

  async close(): Promise<void> {
    // It ends with the front thread at the latest. To end it while it loads would abort the process.
    const late = sleep(limits.audienceStopMs, undefined, { ref: false })
    await Promise.race([this.#thread.stop(), late])
  }
}

function unavailable(message: string): ServiceError {
  return new ServiceError('Unavailable', message)
}
