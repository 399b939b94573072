/**
 * A place in the turns of the event loop.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'

/**
 * Resolves right after all that had arrived was read and all connections that waited were taken, so
 * that closing a socket then loses as little as can be.
 */
export async function afterNextPoll(): Promise<void> {
  // The first one may be due in this turn of the loop, whose poll is over.
  await setImmediate()
  await setImmediate()
}
