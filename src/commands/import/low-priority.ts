/**
 * Lets every other process go before this one, such as a service on the same machine.
 *
 * @module
 */
import { readdirSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/**
 * To be called before threads are made, which inherit it. Does nothing where it is not allowed. Not
 * the lowest there is: the lock of the data directory has to be renewed on a busy machine, too.
 */
export function lowerPriority(): void {
  for (const id of threadIds()) {
    try {
      // Whoever started it with less, as nice does, keeps that.
      if (getPriority(id) >= constants.priority.PRIORITY_BELOW_NORMAL) continue
      setPriority(id, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // It is a courtesy, and some systems do not let everybody change it.
    }
  }
}

/** On Linux each thread has a priority of its own, and some are there from the start. */
function threadIds(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [0]
  }
}
