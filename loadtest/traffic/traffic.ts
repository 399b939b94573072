/**
 * Clients that send known requests for as long as something else goes on: each as soon as its last
 * answer is there, or all together at a rate of their own.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KnownRequest } from '../harness/answers.js'
import { Connection } from './connection.js'
import type { Tally } from './tally.js'

export interface TrafficOptions {
  readonly url: string
  /** Sent in turn. */
  readonly requests: readonly KnownRequest[]
  readonly connectionCount: number
  /**
   * Requests are due at even times, whatever the service does, and latencies count from then on.
   * Undefined: whenever a connection is free.
   */
  readonly perSecond?: number
  readonly tally: Tally
  /** False: connections that end are not made again. */
  readonly reconnects?: boolean
}

export interface Traffic {
  /** Waits for the requests under way. */
  stop(): Promise<void>
}

export function startTraffic(options: TrafficOptions): Traffic {
  const { connectionCount, perSecond } = options
  const state: State = { isStopping: false, turn: 0, startedMs: performance.now() }
  const clients = Array.from({ length: connectionCount }, () =>
    perSecond === undefined ? sendOnAnswer(options, state) : sendWhenDue(options, perSecond, state),
  )
  return {
    async stop() {
      state.isStopping = true
      await Promise.all(clients)
    },
  }
}

/** Runs for some seconds and stops. */
export async function traffic(
  options: TrafficOptions,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const running = startTraffic(options)
  try {
    await sleep(1000 * seconds, undefined, { signal })
  } finally {
    await running.stop()
  }
}

interface State {
  isStopping: boolean
  /** Requests that were taken by a connection. */
  turn: number
  readonly startedMs: number
}

async function sendOnAnswer(options: TrafficOptions, state: State): Promise<void> {
  const client = createClient(options)
  while (!state.isStopping && !client.isOver) await client.ask(state.turn++, performance.now())
  client.close()
}

/** Takes the next request, and waits until it is due; one that was due before is sent at once. */
async function sendWhenDue(
  options: TrafficOptions,
  perSecond: number,
  state: State,
): Promise<void> {
  const client = createClient(options)
  while (!state.isStopping && !client.isOver) {
    const turn = state.turn++
    const dueMs = state.startedMs + (1000 * turn) / perSecond
    const waitMs = dueMs - performance.now()
    // Timers count whole milliseconds, so that some requests are sent a little early.
    if (waitMs >= 1) await sleep(Math.floor(waitMs))
    if (!state.isStopping) await client.ask(turn, Math.min(dueMs, performance.now()))
  }
  client.close()
}

function createClient({ url, requests, tally, reconnects = true }: TrafficOptions) {
  let connection = new Connection(url)
  return {
    get isOver() {
      return !reconnects && !connection.isOpen
    },
    async ask(turn: number, dueMs: number) {
      if (!connection.isOpen) connection = new Connection(url)
      const request = requests[turn % requests.length]
      const outcome = await connection.ask(request.body)
      tally.record(request, outcome, performance.now() - dueMs)
    },
    close: () => connection.close(),
  }
}
