/**
 * Which query worker a task may go to, so that nobody waits long for what takes longer than their own
 * request. There are three lanes:
 *
 *   small   up to two tasks of many selections at each worker, or one if rows wait, before others
 *   large   one at a time at a worker, which then gets nothing else; one worker is kept free of them
 *   rows    pieces of lists, encoded, measured or counted by cell, as far as a worker has fewer than two tasks, before
 *           large ones; none at the first worker while small selections come in
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

/** The demand of the other lanes. */
interface Demand {
  /** Pieces of lists wait, and are to get their turn. */
  readonly rowsWait: boolean
  /** Small selections have come in lately, so that more are to be expected. */
  readonly smallComeIn: boolean
}

/** The least busy worker that may have another task of this lane. */
export function placeFor<Thread extends QueryThread>(
  lane: Lane,
  ready: readonly Thread[],
  demand: Demand,
): Thread | undefined {
  if (lane === 'large' && isFullOfLarge(ready)) return undefined
  const keptForSmall = demand.smallComeIn && ready.length > 1 ? ready[0] : undefined
  let best: Thread | undefined
  for (const thread of ready) {
    const isKept = thread === keptForSmall
    if (thread.underWay.large > 0 || !hasRoom(thread, lane, isKept, demand)) continue
    if (best === undefined || taskCountOf(thread) < taskCountOf(best)) best = thread
  }
  return best
}

function hasRoom(
  { underWay: { small, rows } }: QueryThread,
  lane: Lane,
  isKept: boolean,
  { rowsWait }: Demand,
): boolean {
  if (lane === 'large') return true
  if (lane === 'rows') return !isKept && small + rows < limits.tasksPerWorkerCount
  const isShared = rowsWait && !isKept
  return small < (isShared ? limits.tasksPerWorkerCount - 1 : limits.tasksPerWorkerCount)
}

function isFullOfLarge(ready: readonly QueryThread[]): boolean {
  const count = ready.reduce((sum, { underWay }) => sum + underWay.large, 0)
  return count >= Math.max(1, ready.length - 1)
}

function taskCountOf({ underWay: { small, large, rows } }: QueryThread): number {
  return small + large + rows
}
