/**
 * Connections of autocannon whose requests are sent when we say so. By itself autocannon sends the
 * next request of a connection as soon as the last one is answered; and with `overallRate`, it does
 * so until the requests of a second are used up, and then sleeps for the rest of that second.
 *
 * @module
 */
import type { EventEmitter } from 'node:events'
import type { Client } from 'autocannon'

export interface Connection {
  /** Sends its next request. */
  send(sinceMs: number): void
  /** To be called when an answer was read; gives what `send` was told. */
  answered(): number
}

export interface ConnectionEvents {
  /** It has nothing under way: it is new, or its last request was answered or lost. */
  free(connection: Connection): void
  /** Its request will not be answered. */
  lost(): void
  /** What was lost just now was lost because its time was over. */
  timedOut(): void
}

/** To be called in `setupClient`. */
export function takeOver(client: Client, events: ConnectionEvents): Connection {
  const native = client as EventEmitter as NativeClient
  const sendNext = native._doRequest.bind(native)
  let sinceMs: number | undefined
  let isFree = false
  let hasJustLost = false
  const connection: Connection = {
    send(nowMs) {
      sinceMs = nowMs
      isFree = false
      sendNext()
    },
    answered() {
      const wasSinceMs = sinceMs ?? Number.NaN
      sinceMs = undefined
      return wasSinceMs
    },
  }
  // Called for each connection that is opened, also in place of one that ended, and for each answer.
  native._doRequest = () => {
    hasJustLost = sinceMs !== undefined
    if (hasJustLost) {
      sinceMs = undefined
      // Otherwise the answer to the next request would be taken for that to this one.
      native.pipelinedRequests.clear()
      events.lost()
    }
    if (isFree) return
    isFree = true
    events.free(connection)
  }
  // Also comes when there was nothing to send for as long.
  native.on('timeout', () => {
    if (hasJustLost) events.timedOut()
  })
  return connection
}

/** Of autocannon 9.0.0; that it is so, a test checks. */
type NativeClient = EventEmitter & {
  _doRequest(): void
  readonly pipelinedRequests: { clear(): void }
}
