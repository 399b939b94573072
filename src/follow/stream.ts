/**
 * One stream of a slot on its way to the journal. The server is told what is on disk, and the state of the data
 * directory before it.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { ReplicationMessage } from '../sources/postgres/replication/messages.js'
import { ReplicationStream } from '../sources/postgres/replication/stream.js'
import { Applier } from './applier.js'
import type { CheckedTable } from './check.js'
import type { FollowPlan } from './plan.js'
import { RowReader } from './rows.js'
import { type FollowState, StateFile } from './state.js'
import type { FollowTally } from './tally.js'
import { Transactions } from './transactions.js'

export class FollowedStream {
  readonly stream: ReplicationStream
  readonly #applier: Applier
  readonly #transactions: Transactions
  readonly #file: StateFile
  readonly #tally: FollowTally
  readonly #onBegin: () => void
  #state: FollowState
  #hasBegun = false
  #heardMs = performance.now()
  #isFlushing = false
  #isAsked = false

  /** @param onBegin  called when the server has sent something */
  constructor(
    plan: FollowPlan,
    { table, state, appliedSequence }: CheckedTable,
    tally: FollowTally,
    onBegin: () => void,
  ) {
    const { dataDirectory, sourceId, slot, publication, rowOptions, allowsTruncate } = plan
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
      idPrefix: `pg:${state.systemId}:${slot}`,
      allowsTruncate,
      onBatch: (batch) => this.#applier.add(batch),
      onCommit: (endLsn) => this.#committed(endLsn),
    })
    const place = { slot, publication, sinceLsn: state.confirmedLsn }
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

  async close(): Promise<void> {
    await this.#applier.close().catch(() => undefined)
  }

  #take(message: ReplicationMessage): void {
    this.#begin()
    this.#transactions.take(message)
  }

  #committed(endLsn: bigint): void {
    this.#tally.transactionCount++
    this.#applier.reach(endLsn)
    this.#flushLater()
  }

  #hear(endLsn: bigint, isAsked: boolean): void {
    this.#begin()
    // Of transactions of others nothing came.
    if (!this.#transactions.isOpen) this.#applier.reach(endLsn)
    if (isAsked) this.#isAsked = true
    this.#flushLater()
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
    const { durableLsn } = this.#applier
    const isFurther = durableLsn > this.#state.confirmedLsn
    if (isFurther) {
      const state = { ...this.#state, confirmedLsn: durableLsn }
      this.#file.write(state)
      this.#state = state
    }
    if (isFurther || isAsked) this.stream.confirm(this.#state.confirmedLsn)
    if (isAsked) this.#isAsked = false
  }
}
