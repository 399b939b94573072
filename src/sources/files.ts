/**
 * Recipients from CSV files, plain or gzip.
 *
 * @module
 */
import type { RecipientColumns } from '../shard/columns.js'
import { RecipientCollector } from './collector.js'
import { inputBytes, readInput } from './input.js'
import { RecipientFile } from './recipient-file.js'
import { type Rejects, RejectTally } from './rejects.js'

export interface RecipientRead {
  readonly columns: RecipientColumns
  /** Always the accepted (`columns.recipientCount`) and the rejected together. */
  readonly rowCount: number
  readonly rejectedCount: number
  readonly rejects: readonly Rejects[]
}

export interface ReadOptions {
  /** Bytes read from disk so far, and of all files together. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void
}

/**
 * Reads files in the order given, each with a header that names `number`, `lat`, `lng` and
 * optionally `contact`; other columns are ignored. Rows that cannot be used are counted by reason.
 * A file that cannot be used as a whole is an OperatorError `InputRejected`.
 */
export async function readRecipientFiles(
  paths: readonly string[],
  options: ReadOptions = {},
): Promise<RecipientRead> {
  const sizes: number[] = []
  for (const path of paths) sizes.push(await inputBytes(path))
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0)

  const collector = new RecipientCollector()
  const tally = new RejectTally()
  let rowCount = 0
  let earlierBytes = 0
  for (const [index, path] of paths.entries()) {
    const file = new RecipientFile(path, collector, tally)
    const before = earlierBytes
    const report = (bytes: number) => options.onProgress?.(before + bytes, totalBytes)
    for await (const chunk of readInput(path, report)) file.push(chunk)
    file.finish()
    rowCount += file.rowCount
    earlierBytes += sizes[index]
  }
  return {
    columns: collector.finish(),
    rowCount,
    rejectedCount: tally.count,
    rejects: tally.list(),
  }
}
