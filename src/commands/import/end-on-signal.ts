/**
 * Ends a long command at once when a signal tells it to stop.
 *
 * @module
 */
import { constants } from 'node:os'

interface SignalWatch {
  /** From now on signals are passed over: what is left to do takes less time than to undo it. */
  hold(): void
  /** From now on a signal does what it does otherwise. */
  forget(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** What a shell adds to the number of a signal. */
const SIGNAL_EXIT_CODE = 128

/**
 * Ends the process with 128 and the number of the signal. What is removed or released when a process
 * exits, such as a draft, a spool directory and the lock of the data directory, is so.
 *
 * @param outcome  what that means for the user
 */
export function endOnSignal(outcome = 'nothing was published'): SignalWatch {
  let isHeld = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isHeld) {
      process.stderr.write(`hickory: ${signal} comes too late, the snapshot is being published\n`)
      return
    }
    process.stderr.write(`hickory: stopped by ${signal}, ${outcome}\n`)
    process.exit(SIGNAL_EXIT_CODE + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  // A limit to the size of files is then an error of the write that meets it, as a full disk is.
  process.on('SIGXFSZ', passOver)
  return {
    hold() {
      isHeld = true
    },
    forget() {
      for (const signal of SIGNALS) process.off(signal, onSignal)
      process.off('SIGXFSZ', passOver)
    },
  }
}

function passOver(): void {}
