/**
 * Watches a table while it is followed, by a connection of its own: the stream tells neither that a table was
 * dropped, nor that it was taken out of the publication or written anew.
 *
 * @module
 */
import { limits } from '../limits.js'
import { committedLsn } from '../sources/postgres/replication/slot.js'
import type { FollowedTable } from '../sources/postgres/replication/table.js'
import { connect, type Session } from '../sources/postgres/session.js'
import { checkAgain } from './check.js'
import type { FollowPlan } from './plan.js'
import type { FollowedStream } from './stream.js'

export class TableWatch {
  readonly #client: Session
  readonly #plan: FollowPlan
  readonly #table: FollowedTable
  readonly #followed: FollowedStream
  #lookedMs = performance.now()
  #isLooking = false
  #isAsked = false
  #isClosed = false

  private constructor(
    client: Session,
    plan: FollowPlan,
    table: FollowedTable,
    followed: FollowedStream,
  ) {
    this.#client = client
    this.#plan = plan
    this.#table = table
    this.#followed = followed
  }

  static async begin(
    plan: FollowPlan,
    table: FollowedTable,
    followed: FollowedStream,
  ): Promise<TableWatch> {
    const client = await connect(plan.address, { connectMs: limits.databaseConnectMs })
    return new TableWatch(client, plan, table, followed)
  }

  /** Ends the stream if the table is another one. */
  look(): void {
    this.#isAsked = true
    if (!this.#isLooking) void this.#look()
  }

  lookNowAndThen(): void {
    const quietMs = performance.now() - this.#lookedMs
    if (!this.#isLooking && quietMs >= limits.followLookMs) this.look()
    // A server that does not answer is asked anew, as with the stream.
    else if (quietMs >= limits.followQuietMs) this.#fail(new Error('the server does not answer'))
  }

  close(): void {
    this.#isClosed = true
    this.#client.connection.stream.destroy()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    try {
      while (this.#isAsked && !this.#isClosed) {
        this.#isAsked = false
        const { identity, moved } = this.#followed.compared()
        if (identity === undefined) throw new Error('what is followed has an identity')
        const found = await checkAgain(this.#client, this.#plan, this.#table, identity, moved)
        const endLsn = await committedLsn(this.#client)
        this.#lookedMs = performance.now()
        if (!this.#isClosed) this.#followed.found(found, endLsn)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isLooking = false
    }
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#followed.stream.fail(error)
  }
}
