/**
 * One stream of a slot on its way to the journal. The server is told what is on disk, and the state of the data
 * directory before it.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import { limits } from '../limits.js'
import {
  isBefore,
  isMoved,
  mayBeRenamed,
  type TableIdentity,
} from '../sources/postgres/replication/identity.js'
import type {
  Commit,
  Relation,
  ReplicationMessage,
} from '../sources/postgres/replication/messages.js'
import { refusal } from '../sources/postgres/replication/slot.js'
import { ReplicationStream } from '../sources/postgres/replication/stream.js'
import { Applier } from './applier.js'
import type { CheckedTable } from './check.js'
import type { FollowPlan } from './plan.js'
import { ResentTransactions } from './resent.js'
import { RowReader } from './rows.js'
import { type FollowState, StateFile, withIdentity } from './state.js'
import { idPrefixOf } from './taken.js'
import type { FollowTally } from './tally.js'
import { Transactions } from './transactions.js'

export class FollowedStream {
  readonly stream: ReplicationStream
  readonly #applier: Applier
  readonly #transactions: Transactions
  readonly #file: StateFile
  readonly #tally: FollowTally
  readonly #resent: ResentTransactions
  readonly #onBegin: () => void
  /** Up to here the server has sent all: it must not forget what it did not send again. */
  #sentLsn: bigint
  #state: FollowState
  /** What the table was found to be, to be taken for its identity when all has come that was committed before. */
  #found: { readonly identity: TableIdentity; readonly endLsn: bigint } | undefined
  #hasBegun = false
  #heardMs = performance.now()
  #isFlushing = false
  #isAsked = false

  /**
   * @param onBegin  called when the server has sent something
   * @param onRelation  called when it tells what rows of the table look like
   */
  constructor(
    plan: FollowPlan,
    { table, state, slotLsn, taken, appliedSequence }: CheckedTable,
    tally: FollowTally,
    { onBegin, onRelation }: { onBegin: () => void; onRelation: () => void },
  ) {
    const { dataDirectory, sourceId, slot, publication, rowOptions, allowsTruncate } = plan
    // Where an earlier release followed, it is not known what comes again.
    const sinceLsn = state.lastCommit === undefined ? state.confirmedLsn : slotLsn
    this.#sentLsn = sinceLsn
    this.#resent = new ResentTransactions(
      state,
      sinceLsn,
      taken,
      refusal(plan.address, table.name).message,
    )
    this.#applier = new Applier(dataDirectory, state.confirmedLsn, appliedSequence, tally)
    this.#file = new StateFile(dataDirectory, sourceId)
    this.#state = state
    this.#tally = tally
    this.#onBegin = onBegin
    const onRejected = tally.reject.bind(tally)
    this.#transactions = new Transactions({
      sourceId,
      table,
      rows: new RowReader(table, { rowOptions, onRejected }),
      idPrefix: idPrefixOf(state),
      allowsTruncate,
      onBatch: (batch) => this.#applier.add(batch),
      isNew: (commit) => this.#resent.isNew(commit),
      onRelation: (relation, commit) => {
        this.#place(relation, commit?.xid ?? 0)
        onRelation()
      },
      onCommit: (endLsn, commit) => this.#committed(endLsn, commit),
    })
    const place = { slot, publication, sinceLsn }
    this.stream = new ReplicationStream(place, {
      onMessage: (message) => this.#take(message),
      onAlive: (endLsn, isAsked) => this.#hear(endLsn, isAsked),
    })
  }

  /** To be called now and then. */
  look(): void {
    try {
      this.#confirm(false)
      if (performance.now() - this.#heardMs < limits.followQuietMs) return
      this.stream.fail(new Error('the server sent nothing, not even that it is there'))
    } catch (error) {
      this.stream.fail(error)
    }
  }

  /** Writes what is whole, and tells the server. */
  finish(): void {
    this.#applier.flush()
    this.#confirm(true)
  }

  /** What the table is to be compared with. */
  compared(): Pick<FollowState, 'identity' | 'moved'> {
    const isMovedSince = (this.#state.moved ?? []).length > 0
    if (this.#found !== undefined && this.#found.endLsn <= this.#sentLsn && !isMovedSince) {
      this.#keep(this.#found.identity)
    }
    return this.#state
  }

  /**
   * The table was found to be the same.
   *
   * @param endLsn  what was committed before it shows in what was found
   */
  found(identity: TableIdentity, endLsn: bigint): void {
    const { identity: kept } = this.#state
    if (kept === undefined || !mayBeRenamed(kept, identity)) this.#keep(identity)
    else this.#found ??= { identity, endLsn }
  }

  #keep(identity: TableIdentity): void {
    this.#found = undefined
    const { horizon } = this.#state.identity ?? {}
    // It moves with each transaction of the server. An earlier one says less, and nothing that is wrong.
    if (!isDeepStrictEqual({ ...identity, horizon }, this.#state.identity)) {
      this.#write(withIdentity(this.#state, identity))
    }
  }

  /** It is on disk before rows are that come in that way. */
  #place(relation: Relation, xid: number): void {
    const { identity, moved = [] } = this.#state
    if (identity === undefined || isBefore(xid, identity) || moved.includes(xid)) return
    if (isMoved(identity, relation)) this.#write({ ...this.#state, moved: [...moved, xid] })
  }

  async close(): Promise<void> {
    await this.#applier.close().catch(() => undefined)
  }

  #take(message: ReplicationMessage): void {
    this.#begin()
    this.#transactions.take(message)
  }

  #committed(endLsn: bigint, commit: Commit | undefined): void {
    this.#tally.transactionCount++
    this.#sent(endLsn)
    this.#applier.reach(endLsn, commit)
    this.#flushLater()
  }

  #hear(endLsn: bigint, isAsked: boolean): void {
    this.#begin()
    // Of transactions of others nothing came.
    if (!this.#transactions.isOpen) {
      this.#resent.reach(endLsn)
      this.#sent(endLsn)
      this.#applier.reach(endLsn)
    }
    if (isAsked) this.#isAsked = true
    this.#flushLater()
  }

  #sent(lsn: bigint): void {
    if (lsn > this.#sentLsn) this.#sentLsn = lsn
  }

  #write(state: FollowState): void {
    this.#file.write(state)
    this.#state = state
  }

  #begin(): void {
    this.#heardMs = performance.now()
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#onBegin()
  }

  /** What comes together is written together. */
  #flushLater(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(() => {
      this.#isFlushing = false
      if (this.stream.hasEnded) return
      try {
        this.#applier.flush()
        if (this.#isAsked) this.#confirm(true)
      } catch (error) {
        this.stream.fail(error)
      }
    })
  }

  /** @param isAsked  whether it is told also where nothing has changed */
  #confirm(isAsked: boolean): void {
    const { durableLsn, durableCommit } = this.#applier
    const isFurther = durableLsn > this.#state.confirmedLsn
    if (isFurther) {
      const lastCommit = durableCommit ?? this.#state.lastCommit
      // Of a long transaction the first batches are there before its end.
      const sequence = this.#transactions.isOpen ? undefined : this.#applier.sequence
      this.#write({
        ...this.#state,
        confirmedLsn: durableLsn,
        lastCommit,
        sequence: sequence ?? this.#state.sequence,
      })
    }
    if (!isFurther && !isAsked) return
    const { confirmedLsn } = this.#state
    this.stream.confirm(this.#sentLsn < confirmedLsn ? this.#sentLsn : confirmedLsn)
    if (isAsked) this.#isAsked = false
  }
}
