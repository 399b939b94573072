/**
 * What is to be said in JSON of a snapshot beside what is in it.
 *
 * @module
 */
import type { SnapshotState } from '../../snapshot/retention/history.js'
import { DAMAGED } from '../../snapshot/retention/origin.js'

export function retentionOf({ isGood, isAccepted, pin, origin, importId }: SnapshotState) {
  const sources = origin === undefined || origin === DAMAGED ? [] : origin.sources
  const forced = sources.filter(({ forced }) => forced.length > 0)
  return { isGood, isAccepted, pin, forced, importId }
}
