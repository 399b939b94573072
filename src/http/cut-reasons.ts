/**
 * Why answers are cut off, in the words of the log, and as they are counted.
 *
 * @module
 */
import { NO_ANSWER_IN_TIME } from '../deadline.js'
import type { CutReason } from '../metrics/table.js'
import { TOO_SLOW } from './response/reader-watch.js'

export const HANDLER_FAILED = 'a handler failed'
export const NOT_COMPRESSED = 'the body could not be compressed'
export const WRONG_LENGTH = 'a body is not as long as was told'

/** @param reason  in the words of the log */
export function countedReason(reason: string, isWatch: boolean): CutReason {
  if (isWatch && reason === TOO_SLOW) return 'slow_watcher'
  // What else the pool says: the snapshot is not served any more, or its workers are lost.
  return counted.get(reason) ?? 'unavailable'
}

const counted: ReadonlyMap<string, CutReason> = new Map([
  [TOO_SLOW, 'slow_reader'],
  [NO_ANSWER_IN_TIME, 'late'],
  [HANDLER_FAILED, 'failure'],
  [NOT_COMPRESSED, 'failure'],
  [WRONG_LENGTH, 'failure'],
])
