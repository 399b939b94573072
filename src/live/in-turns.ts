/**
 * Work in steps, between which the thread serves others.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'

/** @throws  what the work throws, or the reason of the signal */
export async function inTurns<Result>(
  work: Generator<void, Result>,
  signal?: AbortSignal,
): Promise<Result> {
  let step = work.next()
  while (step.done !== true) {
    await turn()
    signal?.throwIfAborted()
    step = work.next()
  }
  return step.value
}
