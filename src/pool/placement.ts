/**
 * Which query worker a task may go to, so that nobody waits long for what takes longer than their own
 * request. There are three lanes:
 *
 *   small   up to two tasks of many selections at each worker, or one if rows wait, before others
 *   large   one at a time at a worker, which then gets nothing else; one worker is kept free of them
 *   rows    pieces of lists, as far as a worker has fewer than two tasks
 *
 * @module
 */
import { limits } from '../limits.js'

export type Lane = 'small' | 'large' | 'rows'

/** A worker that takes tasks. */
export interface QueryThread {
  readonly id: number
  /** Tasks that it has been sent and not answered. */
  readonly underWay: Record<Lane, number>
}

/**
 * The least busy worker that may have another task of this lane.
 *
 * @param rowsWait  whether pieces of lists wait, and are to get their turn
 */
export function placeFor(
  lane: Lane,
  ready: readonly QueryThread[],
  rowsWait: boolean,
): QueryThread | undefined {
  if (lane === 'large' && isFullOfLarge(ready)) return undefined
  let best: QueryThread | undefined
  for (const thread of ready) {
    if (thread.underWay.large > 0 || !hasRoom(thread, lane, rowsWait)) continue
    if (best === undefined || taskCountOf(thread) < taskCountOf(best)) best = thread
  }
  return best
}

function hasRoom({ underWay }: QueryThread, lane: Lane, rowsWait: boolean): boolean {
  const { small, rows } = underWay
  if (lane === 'large') return true
  if (lane === 'rows') return small + rows < limits.tasksPerWorkerCount
  return small < (rowsWait ? limits.tasksPerWorkerCount - 1 : limits.tasksPerWorkerCount)
}

function isFullOfLarge(ready: readonly QueryThread[]): boolean {
  const count = ready.reduce((sum, { underWay }) => sum + underWay.large, 0)
  return count >= Math.max(1, ready.length - 1)
}

function taskCountOf({ underWay: { small, large, rows } }: QueryThread): number {
  return small + large + rows
}
