/**
 * Callers in tests.
 *
 * @module
 */
import { limits } from '../../../src/limits.js'
import { type Asker, askerUntil } from '../../../src/selection/access.js'

/** A caller who waits as long as a client of the service does. */
export function inTime(): Asker {
  return within(limits.requestMs)
}

/** A caller who waits from now on for so long. */
export function within(waitMs: number): Asker {
  return askerUntil(performance.now() + waitMs)
}
