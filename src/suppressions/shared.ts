/**
 * Suppression lists that several machines have in common.
 *
 * @module
 */
import type { SuppressionChange, SuppressionsOutcome } from '../store/suppress.js'

export interface SharedSuppressions {
  /** Makes a change on all machines; resolves when it is in the store of this one. Never rejects. */
  make(change: SuppressionChange): Promise<{
    /** To wait for by `untilEverywhere`. */
    readonly sequence: number
    readonly outcome: SuppressionsOutcome
  }>
  /**
   * Resolves when no machine that is ready answers without a change.
   *
   * @throws ServiceError  Unavailable, as a rejection, when one of them may after this time; the change is stored
   */
  untilEverywhere(sequence: number, waitMs: number): Promise<void>
}
