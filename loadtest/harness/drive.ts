/**
 * Drives a server with autocannon, from a thread of its own. Closed loop: each connection sends its
 * next request when the answer to the last one is there. Open loop: requests are sent at a rate.
 *
 * @module
 */

import type { TallyFigures } from '../generator/tally.js'
import { inThread } from '../generator/thread.js'
import type { KnownRequest } from './answers.js'
import type { ProcessorUse } from './processor-time.js'

export interface DrivePlan {
  readonly url: string
  /** Dealt out to the connections, each of which sends its own over and over. */
  readonly requests: readonly KnownRequest[]
  /** Counts answers that differ from the known one. */
  readonly compareAnswers: boolean
  readonly connectionCount: number
  readonly seconds: number
  /** Before that, with the same requests, unmeasured; 0 unless given. */
  readonly warmUpSeconds?: number
  /** Makes it an open loop. */
  readonly ratePerSecond?: number
  /** The process of the server, to read its processor time. */
  readonly pid?: number
}

export interface Drive extends DrivePlan {
  readonly signal: AbortSignal
}

export interface DriveFigures extends TallyFigures {
  /** What an open loop should have sent; in a closed one, what was sent. */
  readonly offeredCount: number
  readonly offeredPerSecond: number
  readonly sentCount: number
  readonly sentPerSecond: number
  /** What an open loop did not send, because no connection was free until the end. */
  readonly unsentCount: number
  /** Share of the time for which the generator was busy: near 1, it is the limit. */
  readonly generatorBusyShare: number
  /** Of the server, while it was measured; undefined where the system does not say it. */
  readonly processor: ProcessorUse | undefined
}

/** Latencies of an open loop count from the moment that a request should have been sent. */
export function drive({ signal, ...plan }: Drive): Promise<DriveFigures> {
  return inThread(new URL('../generator/drive-thread.js', import.meta.url), plan, signal)
}

/** Sentences about what did not go well. */
export function faultsOf(name: string, figures: DriveFigures, mayRefuse = false): string[] {
  const counts = {
    'requests found no connection': figures.unsentCount,
    'requests timed out': figures.timeoutCount,
    'connections ended before the answer': figures.lostCount - figures.timeoutCount,
    'answers other than 2xx': figures.non2xxCount - (mayRefuse ? figures.refusedCount : 0),
    'answers differ from the known one': figures.wrongCount,
  }
  const faults = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${name}: ${count} ${what}`)
  return figures.successCount > 0 ? faults : [...faults, `${name}: no answer at all`]
}
