/**
 * Whether the log that the server sends is the one that was followed. A server that was set back writes another
 * one, which may have passed the old place when it is followed again, so that places alone say nothing.
 *
 * The server is asked for all that the slot has, which is the same again if the server or this process crashed:
 * the last transaction that was taken must be there once more, and no other one before the place.
 *
 * @module
 */
import { formatLsn } from '../sources/postgres/replication/lsn.js'
import type { Commit } from '../sources/postgres/replication/messages.js'
import { CopyNeeded, type FollowState } from './state.js'

export class ResentTransactions {
  readonly #state: FollowState
  /** Whether the last one has yet to come. */
  #isAwaited: boolean
  /** What was taken behind the place: it comes again, too. */
  readonly #taken: Set<bigint>
  readonly #where: string

  /**
   * @param slotLsn  what was committed behind it comes
   * @param taken  places of transactions behind the place
   * @param where  what messages begin with
   */
  constructor(state: FollowState, slotLsn: bigint, taken: ReadonlySet<bigint>, where: string) {
    this.#state = state
    const { lastCommit } = state
    this.#isAwaited = lastCommit !== undefined && lastCommit.xid !== 0 && lastCommit.lsn >= slotLsn
    this.#taken = new Set(taken)
    this.#where = where
  }

  /**
   * Whether a transaction that changes the table is new.
   *
   * @throws CopyNeeded
   */
  isNew(commit: Commit): boolean {
    const { lastCommit, confirmedLsn } = this.#state
    if (lastCommit === undefined) return true
    if (commit.lsn === lastCommit.lsn && lastCommit.xid !== 0) {
      if (commit.xid !== lastCommit.xid || commit.time !== lastCommit.time) throw this.#fault()
      this.#isAwaited = false
      return false
    }
    this.reach(commit.lsn)
    // The journal tells whether its changes are the same.
    this.#taken.delete(commit.lsn)
    if (commit.lsn >= confirmedLsn) return true
    if (commit.lsn > lastCommit.lsn) throw this.#fault()
    return false
  }

  /**
   * All that was committed before a place has come.
   *
   * @throws CopyNeeded
   */
  reach(lsn: bigint): void {
    const { lastCommit } = this.#state
    if (this.#isAwaited && lastCommit !== undefined && lsn > lastCommit.lsn) throw this.#fault()
    if (this.#taken.size > 0 && [...this.#taken].some((each) => each < lsn)) throw this.#fault()
  }

  #fault(): CopyNeeded {
    return new CopyNeeded(
      `${this.#where}: what the server sends up to ${formatLsn(this.#state.confirmedLsn)} is not what it sent before, as if ` +
        'it was set back: changes may be missing, start again with --initial-copy',
    )
  }
}
