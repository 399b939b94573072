/**
 * Makes batches of transactions: one of each that changed the table, or several where it is a large one. A
 * transaction that comes again gives the same batches with the same ids.
 *
 * @module
 */
import type { Change } from '../changes/change.js'
import { LastChanges } from '../changes/last-changes.js'
import { OperatorError } from '../errors.js'
import { type PreparedBatch, prepareBatch } from '../journal/batch.js'
import { limits } from '../limits.js'
import { formatLsn } from '../sources/postgres/replication/lsn.js'
import type { ReplicationMessage } from '../sources/postgres/replication/messages.js'
import type { FollowedTable } from '../sources/postgres/replication/table.js'
import type { RowReader } from './rows.js'

interface TransactionOptions {
  readonly sourceId: number
  readonly table: FollowedTable
  readonly rows: RowReader
  /** What ids of batches begin with: a text for the server and the slot. */
  readonly idPrefix: string
  readonly allowsTruncate: boolean
  readonly onBatch: (batch: PreparedBatch) => void
  /** All batches of the transactions up to here were handed on. */
  readonly onCommit: (endLsn: bigint) => void
}

export class Transactions {
  readonly #options: TransactionOptions
  #changes = new LastChanges()
  /** Changes since the last batch, those among them that others took the place of. */
  #sinceBatch = 0
  #partCount = 0
  #finalLsn: bigint | undefined

  constructor(options: TransactionOptions) {
    this.#options = options
  }

  /** Whether a transaction has begun whose end has not come. */
  get isOpen(): boolean {
    return this.#finalLsn !== undefined
  }

  /** @throws OperatorError  where following cannot go on */
  take(message: ReplicationMessage): void {
    const { table, rows, onCommit } = this.#options
    switch (message.kind) {
      case 'begin':
        this.#finalLsn = message.finalLsn
        this.#partCount = 0
        return
      case 'commit':
        this.#handOn()
        this.#finalLsn = undefined
        onCommit(message.endLsn)
        return
      case 'relation':
        if (message.oid === table.oid) rows.begin(message)
        return
      case 'truncate':
        if (message.oids.includes(table.oid)) this.#truncate()
        return
      case 'insert':
        if (message.oid === table.oid) this.#add(rows.inserted(message.row))
        return
      case 'update':
        if (message.oid === table.oid) this.#add(rows.updated(message.row, message.old))
        return
      case 'delete':
        if (message.oid === table.oid) this.#add(rows.deleted(message.old))
        return
      case 'other':
        return
    }
  }

  #add(changes: readonly Change[]): void {
    // What is of one row stays together.
    if (this.#sinceBatch + changes.length > limits.batchChangeCount) this.#handOn()
    this.#sinceBatch += changes.length
    for (const change of changes) this.#changes.add(change)
  }

  #truncate(): void {
    if (this.#options.allowsTruncate) {
      this.#add([{ op: 'clear' }])
      return
    }
    throw new OperatorError(
      'Guarded',
      `somebody emptied ${this.#options.table.name} with TRUNCATE, and nothing of that transaction was taken: ` +
        '--allow-truncate empties the source, too',
    )
  }

  #handOn(): void {
    const { byIdentity, isCleared } = this.#changes
    this.#sinceBatch = 0
    if (byIdentity.size === 0 && !isCleared) return
    const { sourceId, idPrefix, onBatch } = this.#options
    const part = this.#partCount++
    const batchId = `${idPrefix}:${formatLsn(this.#finalLsn ?? 0n)}:${part}`
    const changes = [...(isCleared ? [{ op: 'clear' } as const] : []), ...byIdentity.values()]
    this.#changes = new LastChanges()
    onBatch(prepareBatch({ sourceId, batchId, changes }))
  }
}
