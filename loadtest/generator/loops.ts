/**
 * When requests are sent: a closed loop, or an open one.
 *
 * @module
 */
import { createArrivals } from './arrivals.js'
import type { Connection } from './connections.js'

/** In milliseconds of one clock. */
export interface Times {
  readonly startMs: number
  readonly endMs: number
}

export interface Loop {
  /** All that should have been sent by the end. */
  readonly offeredCount: number
  readonly sentCount: number
  /** Whether answers that come after the end count. */
  readonly awaitsAnswers: boolean
  /** Takes a connection that has nothing under way. */
  free(connection: Connection, nowMs: number): void
  /** To be called every millisecond. */
  tick(nowMs: number): void
  /** Whether nothing is to be sent any more. */
  isOver(nowMs: number): boolean
}

/** Each connection sends again as soon as it can. */
export function closedLoop({ startMs, endMs }: Times): Loop {
  const early: Connection[] = []
  let sentCount = 0
  const send = (connection: Connection, nowMs: number) => {
    sentCount++
    connection.send(nowMs)
  }
  return {
    get offeredCount() {
      return sentCount
    },
    get sentCount() {
      return sentCount
    },
    awaitsAnswers: false,
    free(connection, nowMs) {
      if (nowMs < startMs) early.push(connection)
      else if (nowMs < endMs) send(connection, nowMs)
    },
    tick(nowMs) {
      if (nowMs >= startMs) for (const connection of early.splice(0)) send(connection, nowMs)
    },
    isOver: (nowMs) => nowMs >= endMs,
  }
}

/** Requests are sent as they arrive, at a rate. */
export function openLoop(times: Times, ratePerSecond: number): Loop {
  const arrivals = createArrivals<Connection>({ ...times, ratePerSecond }, (connection, sinceMs) =>
    connection.send(sinceMs),
  )
  const lastMs = times.endMs + BACKLOG_MS
  const sendDue = (nowMs: number) => {
    if (nowMs < lastMs) arrivals.sendDue(nowMs)
  }
  return {
    offeredCount: arrivals.offeredCount,
    get sentCount() {
      return arrivals.sentCount
    },
    awaitsAnswers: true,
    free(connection, nowMs) {
      arrivals.free(connection)
      sendDue(nowMs)
    },
    tick: sendDue,
    isOver: (nowMs) =>
      nowMs >= lastMs || (nowMs >= times.endMs && arrivals.sentCount === arrivals.offeredCount),
  }
}

/** After the end, for what has arrived and found no connection. */
const BACKLOG_MS = 1_000
