/**
 * Writes batches to the journal, those of many small transactions with one sync, and says up to where the
 * server need not keep its log.
 *
 * @module
 */
import type { PreparedBatch } from '../journal/batch.js'
import { journalDirectory } from '../journal/files.js'
import { recordBytes } from '../journal/record.js'
import { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import type { Commit } from '../sources/postgres/replication/messages.js'
import { CopyNeeded } from './state.js'
import type { FollowTally } from './tally.js'

export class Applier {
  readonly #writer: JournalWriter
  #waiting: PreparedBatch[] = []
  #waitingBytes = 0
  #handedLsn: bigint
  #durableLsn: bigint
  #sequence: number | undefined
  #handedCommit: Commit | undefined
  #durableCommit: Commit | undefined
  readonly #tally: FollowTally

  /**
   * @param sinceLsn  up to here all is on disk
   * @param leastSequence  a batch that the journal has, unless it is another one
   */
  constructor(dataDirectory: string, sinceLsn: bigint, leastSequence: number, tally: FollowTally) {
    this.#tally = tally
    this.#writer = new JournalWriter({
      directory: journalDirectory(dataDirectory),
      leastSequence: () => leastSequence,
    })
    this.#handedLsn = sinceLsn
    this.#durableLsn = sinceLsn
  }

  /** All that was committed up to here is on disk. */
  get durableLsn(): bigint {
    return this.#durableLsn
  }

  /** The last batch that was written, if one was. */
  get sequence(): number | undefined {
    return this.#sequence
  }

  /** The last commit of the table there, if one came by here. */
  get durableCommit(): Commit | undefined {
    return this.#durableCommit
  }

  /** @throws  as `flush` */
  add(batch: PreparedBatch): void {
    const bytes = recordBytes(batch)
    if (this.#waitingBytes + bytes > limits.followedGroupBytes) this.#write()
    this.#waiting.push(batch)
    this.#waitingBytes += bytes
  }

  /**
   * All that was committed up to here was added.
   *
   * @param commit  which changed the table
   */
  reach(lsn: bigint, commit?: Commit): void {
    if (lsn > this.#handedLsn) this.#handedLsn = lsn
    if (commit !== undefined) this.#handedCommit = commit
  }

  /**
   * Writes what waits.
   *
   * @throws CopyNeeded  where a batch is in the journal with other changes
   * @throws  what the system says, or JournalDamaged; then `close` must follow
   */
  flush(): void {
    this.#write()
    this.#durableLsn = this.#handedLsn
    this.#durableCommit = this.#handedCommit
  }

  async close(): Promise<void> {
    await this.#writer.release()
  }

  #write(): void {
    if (this.#waiting.length === 0) return
    const outcomes = this.#writer.append(this.#waiting)
    for (const [at, { kind, sequence }] of outcomes.entries()) {
      const batch = this.#waiting[at]
      this.#sequence = sequence
      if (kind === 'conflicting') throw conflict(batch.batchId, sequence)
      if (kind === 'repeated') this.#tally.repeatedBatchCount++
      else {
        this.#tally.batchCount++
        this.#tally.changeCount += batch.changeCount
      }
    }
    this.#waiting = []
    this.#waitingBytes = 0
  }
}

function conflict(batchId: string, sequence: number): CopyNeeded {
  return new CopyNeeded(
    `the transaction ${batchId} is in the journal as batch ${sequence}, and with other changes: another slot, ` +
      'other columns or another --normalize were used before; start again with --initial-copy',
  )
}
