/**
 * Why a task is not done, as whoever asked is told.
 *
 * @module
 */

import { NO_ANSWER_IN_TIME } from '../deadline.js'
import { ServiceError } from '../errors.js'
import type { QueryFault } from './messages.js'

export const NOT_SERVED = 'this snapshot is not served any more; ask again'
export const GONE = 'whoever asked has gone'
export const RESTARTING = 'the query workers are restarting; try again soon'

export function unavailable(message: string): ServiceError {
  return new ServiceError('Unavailable', message)
}

/** The fault of a worker. */
export function refused(fault: QueryFault): ServiceError {
  return new ServiceError(fault, FAULT_MESSAGES[fault])
}

const FAULT_MESSAGES: Readonly<Record<QueryFault, string>> = {
  TooComplex: 'the shapes of this request cost more work than one request may take; simplify them',
  Unavailable: NO_ANSWER_IN_TIME,
}
