/**
 * Removes a directory if the process ends while it is there: by a signal, or by itself.
 *
 * @module
 */
import { rmSync } from 'node:fs'

export interface RemovalOnExit {
  /** From now on a signal waits until `forget`. */
  hold(): void
  /** From now on the process may end with the directory in place. */
  forget(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** @param endsOnSignal  false where somebody else decides what a signal means */
export function removeOnExit(directory: string, endsOnSignal: boolean): RemovalOnExit {
  let isHeld = false
  let received: NodeJS.Signals | undefined
  // Threads may still write into it, until the process has ended.
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  const forget = () => {
    process.off('exit', remove)
    for (const signal of SIGNALS) process.off(signal, onSignal)
    // Now that nobody listens to it here, it does what it does otherwise.
    if (received !== undefined) process.kill(process.pid, received)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    received = signal
    if (isHeld) return
    try {
      remove()
    } finally {
      forget()
    }
  }
  process.on('exit', remove)
  if (endsOnSignal) for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    hold() {
      isHeld = true
    },
    forget,
  }
}
