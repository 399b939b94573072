/**
 * A long command that is told to stop: it cleans up at once and ends as who sent the signal expects.
 *
 * @module
 */
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** What a shell adds to the number of a signal. */
const SIGNAL_EXIT_CODE = 128

/**
 * Ends the process with 128 and the number of the signal. What is released when a process exits, as
 * the lock of the data directory is, is released.
 *
 * @param cleanUp  is synchronous, since nothing else runs afterwards
 * @returns takes it back
 */
export function endOnSignal(cleanUp: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    process.stderr.write(`hickory: stopped by ${signal}, nothing was published\n`)
    cleanUp()
    process.exit(SIGNAL_EXIT_CODE + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
