/**
 * Ends a long command at once when a signal tells it to stop.
 *
 * @module
 */
import { constants } from 'node:os'

export interface SignalWatch {
  /** From now on signals are passed over: what is left to do takes less time than to undo it. */
  hold(): void
  /** From now on a signal ends the process again. */
  resume(outcome: string): void
  /** From now on a signal does what it does otherwise. It does not end the process of a command that has published. */
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
 * @param made  what is published, for a signal that comes too late
 */
export function endOnSignal(outcome = 'nothing was published', made = 'snapshot'): SignalWatch {
  let isHeld = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isHeld) {
      process.stderr.write(`hickory: ${signal} comes too late, the ${made} is being published\n`)
      return
    }
    process.stderr.write(`hickory: stopped by ${signal}, ${outcome}\n`)
    process.exit(SIGNAL_EXIT_CODE + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    hold() {
      isHeld = true
    },
    resume(next) {
      isHeld = false
      outcome = next
    },
    forget() {
      for (const signal of SIGNALS) {
        process.off(signal, onSignal)
        // The exit code would say that nothing was published.
        if (isHeld && isOwnProcess) process.on(signal, passOver)
      }
    },
  }
}

function passOver(): void {}

let isOwnProcess = false

/** Tells that this process ends with its command, so that nothing may end it once that has published. */
export function endsWithCommand(): void {
  isOwnProcess = true
}
