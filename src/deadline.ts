/**
 * Waiting for no longer than a caller waits.
 *
 * @module
 */
import { ServiceError } from './errors.js'

/**
 * Rejects with Unavailable when `work` has not settled by `deadlineMs`.
 *
 * @param deadlineMs  by the clock of `performance.now()`
 */
export function beforeDeadline<Value>(work: Promise<Value>, deadlineMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new ServiceError('Unavailable', NO_ANSWER_IN_TIME)),
      Math.max(0, deadlineMs - performance.now()),
    )
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

export const NO_ANSWER_IN_TIME = 'no answer in time; try again soon'
