/**
 * The messages between a front thread and a query worker.
 *
 * @module
 */
import type { ShardImage } from '../shard/layout.js'
import type { RowFormat } from '../shard/rows.js'
import type { Control, Flag } from './control.js'
import type { FlatQueries } from './flat-queries.js'

/** The data that every worker starts with. */
export interface QueryWorkerData {
  readonly shards: readonly ShardImage[]
  readonly control: Control
  /** Edge tests that one task may take. */
  readonly edgeTestCount: number
}

/** The messages to a worker. */
export type WorkerTask = QueriesTask | RowsTask

export interface QueriesTask extends FlatQueries {
  readonly kind: 'queries'
  /** Raised when nobody waits for the findings any more. */
  readonly unwanted: Flag | null
}

/** Rows of a shard, as many as there is room for. */
export interface RowsTask {
  readonly kind: 'rows'
  readonly shardIndex: number
  readonly runs: Uint32Array
  readonly format: RowFormat
  /** Shared memory that is nobody else's until the rows are there. */
  readonly into: Uint8Array
}

export interface RowsWritten {
  readonly rowCount: number
  readonly byteCount: number
}
