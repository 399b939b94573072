/**
 * Batches of changes, before they are written to the journal and after they were read from it.
 *
 * @module
 */
import { hash } from 'node:crypto'
import type { Change } from '../changes/change.js'
import { limits } from '../limits.js'
import { batchKey } from './batch-key.js'
import { encodeChanges } from './content.js'
import { ENTRY_SOURCE, RECORD_HEADER_BYTES } from './record.js'

/** What a client asks for at once: all of it is there, or none. */
interface GivenBatch {
  readonly sourceId: number
  /** Chosen by the client; the same for the same batch, however often it is sent. */
  readonly batchId: string
  readonly changes: readonly Change[]
}

/** No journal of this format can hold it, on whatever machine. */
export class UnstorableBatch extends RangeError {}

/** A batch on its way to the writer. Plain data, which may travel between threads. */
export interface PreparedBatch {
  readonly sourceId: number
  readonly batchId: string
  /** What it is found by among those that were written. */
  readonly key: string
  readonly changeCount: number
  /** The changes as they stand in a record. */
  readonly content: Uint8Array
  /** SHA-256 of the content. */
  readonly digest: Uint8Array
}

/** A batch as it travels between machines: what else a writer needs follows (`prepared`). */
export type SentBatch = Pick<PreparedBatch, 'sourceId' | 'batchId' | 'changeCount' | 'content'>

export function sentBatch({ sourceId, batchId, changeCount, content }: PreparedBatch): SentBatch {
  return { sourceId, batchId, changeCount, content }
}

/** A batch that was read; an entry of a cluster is one without changes, of `ENTRY_SOURCE`. */
export interface JournalBatch extends GivenBatch {
  /** 1 for the first batch of a journal; each is one more than that of the batch before it. */
  readonly sequence: number
  /** Milliseconds since 1970 at which it was written. */
  readonly timeMs: number
  /** The first 32 bits of the hash of its record, which is one of all records up to it. */
  readonly seal: number
}

/**
 * Does, on any thread, what the writer need not do.
 *
 * @throws UnstorableBatch  for what no record can hold
 */
export function prepareBatch({ sourceId, batchId, changes }: GivenBatch): PreparedBatch {
  if (!Number.isInteger(sourceId) || sourceId < 0 || sourceId > limits.sourceIdMax) {
    throw new UnstorableBatch(`${sourceId} is no id of a source`)
  }
  // A copy, since what travels between threads takes all of its memory along.
  const content = new Uint8Array(encodeChanges(changes))
  return prepared({ sourceId, batchId, changeCount: changes.length, content })
}

/**
 * The same of an entry: something else than recipients that machines of a cluster have in common.
 *
 * @param content  which must not change any more
 * @throws UnstorableBatch
 */
export function prepareEntry(entryId: string, content: Uint8Array): PreparedBatch {
  return prepared({ sourceId: ENTRY_SOURCE, batchId: entryId, changeCount: 0, content })
}

/**
 * What else a writer needs of a batch that was prepared elsewhere.
 *
 * @throws UnstorableBatch
 */
export function prepared(batch: SentBatch): PreparedBatch {
  const { sourceId, batchId, changeCount, content } = batch
  for (const number of [sourceId, changeCount]) {
    const fits = Number.isInteger(number) && number >= 0 && number <= ENTRY_SOURCE
    if (!fits) throw new UnstorableBatch(`${number} does not fit into 32 bits of a record`)
  }
  const idBytes = Buffer.byteLength(batchId)
  if (idBytes === 0 || idBytes > limits.journalBatchIdBytes) {
    throw new UnstorableBatch(
      `the id of a batch must have 1 to ${limits.journalBatchIdBytes} bytes: it has ${idBytes}`,
    )
  }
  const bytes = RECORD_HEADER_BYTES + idBytes + content.length
  if (bytes > limits.journalRecordBytes) {
    const most = limits.journalRecordBytes
    throw new UnstorableBatch(
      `a batch may take ${most} bytes in the journal, and this takes ${bytes}`,
    )
  }
  const digest = hash('sha256', content, 'buffer')
  const key = batchKey(sourceId, batchId)
  return { ...batch, key, digest }
}
