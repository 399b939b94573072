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
import type {
  Commit,
  Relation,
  ReplicationMessage,
} from '../sources/postgres/replication/messages.js'
import type { FollowedTable } from '../sources/postgres/replication/table.js'
import type { RowReader } from './rows.js'

interface TransactionOptions {
  readonly sourceId: number
  readonly table: FollowedTable
  readonly rows: RowReader
  /** What ids of batches begin with. */
  readonly idPrefix: string
  readonly allowsTruncate: boolean
  readonly onBatch: (batch: PreparedBatch) => void
  /** Whether a transaction that changes the table was not taken before. */
  readonly isNew: (commit: Commit) => boolean
  /** Called when the server tells what rows look like. */
  readonly onRelation: (relation: Relation, commit: Commit | undefined) => void
  /** All batches of the transactions up to here were handed on; `commit` is new and has changed the table. */
  readonly onCommit: (endLsn: bigint, commit: Commit | undefined) => void
}

export class Transactions {
  readonly #options: TransactionOptions
  #changes = new LastChanges()
  /** Changes since the last batch, those among them that others took the place of. */
  #sinceBatch = 0
  #partCount = 0
  #commit: Commit | undefined
  /** Undefined before the first change of the table in a transaction. */
  #isNew: boolean | undefined

  constructor(options: TransactionOptions) {
    this.#options = options
  }

  /** Whether a transaction has begun whose end has not come. */
  get isOpen(): boolean {
    return this.#commit !== undefined
  }

  /** @throws OperatorError  where following cannot go on */
  take(message: ReplicationMessage): void {
    const { table, rows, onCommit, onRelation } = this.#options
    switch (message.kind) {
      case 'begin':
        this.#commit = message.commit
        this.#isNew = undefined
        this.#partCount = 0
        return
      case 'commit': {
        this.#handOn()
        const commit = this.#isNew === true ? this.#commit : undefined
        this.#commit = undefined
        onCommit(message.endLsn, commit)
        return
      }
      case 'relation':
        if (message.oid !== table.oid) return
        rows.begin(message)
        onRelation(message, this.#commit)
        return
      case 'truncate':
        if (this.#isToBeTaken(message.oids)) this.#truncate()
        return
      case 'insert':
        if (this.#isToBeTaken([message.oid])) this.#add(rows.inserted(message.row))
        return
      case 'update':
        if (this.#isToBeTaken([message.oid])) this.#add(rows.updated(message.row, message.old))
        return
      case 'delete':
        if (this.#isToBeTaken([message.oid])) this.#add(rows.deleted(message.old))
        return
      case 'other':
        return
    }
  }

  #isToBeTaken(oids: readonly number[]): boolean {
    if (!oids.includes(this.#options.table.oid)) return false
    if (this.#commit === undefined) throw new Error('the server sent a change of no transaction')
    this.#isNew ??= this.#options.isNew(this.#commit)
    return this.#isNew
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
    const batchId = `${idPrefix}${formatLsn(this.#commit?.lsn ?? 0n)}:${part}`
    const changes = [...(isCleared ? [{ op: 'clear' } as const] : []), ...byIdentity.values()]
    this.#changes = new LastChanges()
    onBatch(prepareBatch({ sourceId, batchId, changes }))
  }
}
