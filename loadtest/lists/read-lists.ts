/**
 * Reads the same list over and over on some connections at once, from a thread of its own, and
 * checks each.
 *
 * @module
 */
import { inThread } from '../generator/thread.js'
import type { Digest } from './digest.js'

export interface ReadPlan {
  readonly url: string
  readonly path: string
  readonly body: string
  readonly connectionCount: number
  /** After which no connection begins another list; each reads one at least. */
  readonly seconds: number
  /** What every list must be; unchecked where that is not known. */
  readonly expected: Digest | undefined
}

export interface ReadFigures {
  readonly listCount: number
  /** Of answers' bodies, over the time from the first request to the last byte. */
  readonly megabytesPerSecond: number
  /** Lists that are not what they must be, or broke off. */
  readonly wrongCount: number
}

export function readLists(plan: ReadPlan, signal: AbortSignal): Promise<ReadFigures> {
  return inThread(new URL('read-lists-thread.js', import.meta.url), plan, signal)
}

export function listFaultsOf(name: string, { wrongCount, listCount }: ReadFigures): string[] {
  return wrongCount === 0 ? [] : [`${name}: ${wrongCount} of ${listCount} lists are wrong`]
}
