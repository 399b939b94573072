/**
 * Requests of which brute force has said that their answers are right.
 *
 * @module
 */
import type { KnownRequest } from '../harness/answers.js'
import type { Stage } from './scenario.js'

/** Counts of the shapes that are listed as well. */
export function verifiedCounts({ counts, lists }: Stage): readonly KnownRequest[] {
  return counts.slice(0, lists.length)
}

/** These, and among 16 of them one list of not too many recipients. */
export function verifiedMix(stage: Stage): readonly KnownRequest[] {
  const lists = stage.lists.filter(({ answer }) => answer.length <= LIST_CHAR_COUNT_MAX)
  return verifiedCounts(stage).flatMap((count, at) =>
    at % 16 === 0 && lists.length > 0 ? [count, lists[(at / 16) % lists.length]] : [count],
  )
}

/** So that the generator can compare all of them. */
const LIST_CHAR_COUNT_MAX = 300_000
