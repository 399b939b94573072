/**
 * The request to stop, by a signal.
 *
 * @module
 */

/** Thrown out of long work when the service is told to stop. */
export class StoppedWhileLoading extends Error {}

export interface StopRequest {
  readonly requested: boolean
  readonly signal: AbortSignal
  /** Resolves when it comes. */
  readonly promise: Promise<void>
}

/** SIGTERM or SIGINT, as soon as it comes; a second one ends the process at once. */
export function stopRequest(): StopRequest {
  const stopping = new AbortController()
  const { signal } = stopping
  const request = { requested: false, signal, promise: Promise.resolve() }
  request.promise = new Promise((resolve) => {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const stop = () => {
      // The next one has its default effect.
      for (const signal of signals) process.off(signal, stop)
      request.requested = true
      stopping.abort()
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
  return request
}
