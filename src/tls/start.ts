/**
 * Starts the TLS thread and gives it orders, for the main thread.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.js'
import { startThread } from '../threads/thread.js'
import type { TlsCredentials } from './credentials.js'
import type { TlsCalls, TlsThreadData } from './messages.js'

export interface TlsThread {
  readonly port: number
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  /** Hands new connections to these sockets, in turn. */
  forward(socketPaths: readonly string[]): void
  /** Shows this certificate to new connections. */
  show(credentials: TlsCredentials): void
  /** Takes no more connections; resolves when those that came first have been handed on. */
  stopListening(): Promise<void>
  /** Ends the thread, once clients have taken what the fronts left for them. */
  end(waitMs: number): Promise<void>
}

/** @returns undefined when the address cannot be listened on */
export async function startTlsThread(data: TlsThreadData): Promise<TlsThread | undefined> {
  const thread = startThread<TlsCalls>('tls', { title: 'the TLS thread', data })
  const { ask, tell, failure, ended, stop, terminate } = thread
  const port = await ask.listen()
  if (port === undefined) {
    await stop(0)
    return undefined
  }
  return {
    port,
    failure,
    forward: tell.forward,
    show: tell.show,
    stopListening: () => Promise.race([ask.stopListening(), ended]),
    async end(waitMs) {
      const late = sleep(waitMs + limits.breakOffMs, undefined, { ref: false })
      await Promise.race([stop(waitMs), late])
      await terminate()
    },
  }
}
