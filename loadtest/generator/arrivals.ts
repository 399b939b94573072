/**
 * Requests that arrive at a constant rate, whether or not the last ones are answered: an open loop.
 * One that finds no connection free waits for the next one, and its time runs meanwhile. So a
 * server that is slow for a while does not hide it by being asked less.
 *
 * @module
 */

export interface Arrivals<Connection> {
  /** All that should have been sent by the end. */
  readonly offeredCount: number
  readonly sentCount: number
  /** Hands over a connection that has nothing under way. */
  free(connection: Connection): void
  /** Sends what has arrived until now, as far as there are connections. */
  sendDue(nowMs: number): void
}

/** @param send  is told when the request arrived */
export function createArrivals<Connection>(
  plan: { readonly startMs: number; readonly endMs: number; readonly ratePerSecond: number },
  send: (connection: Connection, arrivedMs: number) => void,
): Arrivals<Connection> {
  const { startMs, endMs, ratePerSecond } = plan
  const offeredCount = Math.round((ratePerSecond * (endMs - startMs)) / 1000)
  // In whole milliseconds, finer than which no timer is: those of one millisecond arrive together.
  const arrivalMs = (at: number) => startMs + Math.ceil((1000 * at) / ratePerSecond)
  const idle: Connection[] = []
  let sentCount = 0
  return {
    offeredCount,
    get sentCount() {
      return sentCount
    },
    free(connection) {
      idle.push(connection)
    },
    sendDue(nowMs) {
      while (sentCount < offeredCount && arrivalMs(sentCount) <= nowMs) {
        // The one that is idle for longest, so that none is idle for so long that it is closed.
        const connection = idle.shift()
        if (connection === undefined) return
        send(connection, arrivalMs(sentCount++))
      }
    },
  }
}
