/**
 * The tasks whose caller has waited as long as it may.
 *
 * @module
 */
import type { Line } from './line.js'
import type { Waiting } from './waiting.js'

/** Takes those that wait out of their lines; those that are under way are given as well, settled or not. */
export function* takeOverdue(
  lines: readonly Line<Waiting>[],
  underWay: Iterable<readonly Waiting[]>,
  nowMs: number,
): Generator<Waiting, void> {
  for (const line of lines) {
    for (let waiting = line.first; waiting !== undefined; ) {
      const { behind } = waiting
      if (waiting.caller.deadlineMs <= nowMs) {
        line.leave(waiting)
        yield waiting
      }
      waiting = behind
    }
  }
  for (const batch of underWay) {
    for (const waiting of batch) if (waiting.caller.deadlineMs <= nowMs) yield waiting
  }
}
