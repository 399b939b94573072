/**
 * What a machine of a cluster may answer that has not heard of changes for too long: somebody may have been suppressed
 * elsewhere.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Remarks } from './remarks.js'

export interface Freshness {
  /** For how many seconds it has not; undefined while it may answer. */
  lagSeconds(): number | undefined
  /** Whether it lists nobody then. */
  readonly refusesLists: boolean
  /** Whether an operator wants that it gets no requests. */
  isDraining(): boolean
}

/**
 * Notes it in the answer, or refuses to list anybody.
 *
 * @throws ServiceError  Lagging
 */
export function checkFreshness(
  freshness: Freshness | undefined,
  isList: boolean,
  remarks: Remarks,
): void {
  const seconds = freshness?.lagSeconds()
  if (freshness === undefined || seconds === undefined) return
  const problem = `this machine has been cut off from the cluster for ${Math.round(seconds)} s too long`
  if (isList && freshness.refusesLists) {
    throw new ServiceError(
      'Lagging',
      `${problem}, and numbers may have been suppressed since: ask another machine, or for counts`,
    )
  }
  const missing = 'changes and suppressed numbers since then may be missing'
  remarks.addFirst('Lagging', `${problem}: ${missing}`)
}
