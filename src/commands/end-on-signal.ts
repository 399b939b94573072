/**
 * A long command that is told to stop: it cleans up at once and ends as who sent the signal expects.
 *
 * @module
 */
import { constants } from 'node:os'

export interface EndOnSignal {
  /** From now on signals are ignored: what is left to do takes less time than to undo it. */
  hold(): void
  /** From now on they do what they do otherwise. */
  forget(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** What a shell adds to the number of a signal. */
const SIGNAL_EXIT_CODE = 128

/**
 * Ends the process with 128 and the number of the signal. What is released when a process exits, as
 * the lock of the data directory is, is released.
 *
 * @param cleanUp  is synchronous, since nothing else runs afterwards
 */
export function endOnSignal(cleanUp: () => void): EndOnSignal {
  let isHeld = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isHeld) return
    process.stderr.write(`hickory: stopped by ${signal}, nothing was published\n`)
    try {
      cleanUp()
    } finally {
      process.exit(SIGNAL_EXIT_CODE + constants.signals[signal])
    }
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    hold() {
      isHeld = true
    },
    forget() {
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}
