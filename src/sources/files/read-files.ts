/**
 * Recipients from files: CSV, JSON lines, GeoJSON and Parquet, plain or packed.
 *
 * @module
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import type {
  ColumnNames,
  OnReadProgress,
  ReadReport,
  RecipientSink,
  RowOptions,
} from '../batch.js'
import type { ChosenColumns } from '../choose-columns.js'
import { assertLastPage } from '../json/pages.js'
import { openParquet, readParquetFile } from '../parquet/read-parquet.js'
import { E164Numbers } from '../rows/e164.js'
import { KeySet } from '../rows/key-set.js'
import { RejectedTexts } from '../rows/rejected-texts.js'
import { type RejectedSink, RejectTally } from '../rows/rejects.js'
import type { RowTarget } from '../rows/row-scan.js'
import type { Encoding } from '../text/encoding.js'
import { type FileRead, readTextFile } from '../text/read-text.js'
import { withDatabase } from './database.js'
import type { FileFormat } from './file-format.js'
import { inputPaths } from './input-paths.js'
import { type FileToRead, type OpenedFile, openFile } from './open-files.js'
import { Spool } from './spool.js'

export interface FilesInput {
  /** Paths, patterns such as `data/*.csv`, and `-` for standard input; read in this order. */
  readonly patterns: readonly string[]
  /** Of all files; each file tells its own if absent. */
  readonly format?: FileFormat | undefined
  /** Of all texts; if absent, a mark at the beginning tells UTF-16, and all others are UTF-8. */
  readonly encoding?: Encoding | undefined
  readonly columns: ColumnNames
  readonly rowOptions?: RowOptions | undefined
  /** Where standard input and the features of collections are kept while they are read. */
  readonly spoolDirectory: string
}

export interface ReadFilesOptions {
  readonly onProgress?: OnReadProgress | undefined
  /** Told of each file that has columns, before its rows are read. */
  /** Gets every rejected row; nothing is kept of them if absent. */
  readonly rejected?: RejectedSink | undefined
  readonly onColumns?: ((columns: ChosenColumns) => void) | undefined
}

/**
 * Reads files as one source. Rows that cannot be used are counted by reason; a file that cannot be
 * used as a whole is an OperatorError `InputRejected`, and then nothing that the sink has got counts.
 */
export async function readFiles(
  input: FilesInput,
  sink: RecipientSink,
  options: ReadFilesOptions = {},
): Promise<ReadReport> {
  const spool = new Spool(input.spoolDirectory)
  const { rejected } = options
  const texts = rejected === undefined ? undefined : new RejectedTexts(input.spoolDirectory)
  try {
    const files: FileToRead[] = []
    for (const path of await inputPaths(input.patterns)) {
      files.push(await openFile(path, input, input.columns, spool))
    }
    assertLastPage(files.map(({ page }) => page))
    const { rowOptions = {} } = input
    const tally = new RejectTally(rejected)
    const { e164Region } = rowOptions
    const numbers = e164Region === undefined ? undefined : new E164Numbers(e164Region)
    const target = { sink, tally, keys: new KeySet(), options: rowOptions, texts, numbers }
    return await readAll(files, input.columns, target, options)
  } finally {
    spool.remove()
    texts?.remove()
  }
}

async function readAll(
  files: readonly FileToRead[],
  wanted: ColumnNames,
  target: RowTarget,
  { onProgress, onColumns }: ReadFilesOptions,
): Promise<ReadReport> {
  const totalBytes = files.reduce((sum, { byteCount }) => sum + byteCount, 0)
  let doneBytes = 0
  let acceptedCount = 0
  let furtherLineCount = 0
  let normalizedCount = 0
  await withDatabase(
    files.flatMap(({ opened }) => pathsOf(opened)),
    async (connection) => {
      for (const { opened, byteCount } of files) {
        const read = await readFile(connection, opened, wanted, target, {
          onColumns,
          onShare: (share) =>
            onProgress?.(Math.floor(doneBytes + share * byteCount), totalBytes, 'bytes'),
        })
        acceptedCount += read.acceptedCount
        furtherLineCount += read.furtherLineCount
        normalizedCount += read.normalizedCount
        doneBytes += byteCount
        onProgress?.(doneBytes, totalBytes, 'bytes')
      }
    },
  )
  const { tally } = target
  return {
    rowCount: acceptedCount + tally.count,
    acceptedCount,
    rejectedCount: tally.count,
    rejects: tally.list(),
    rejectedMap: tally.map(),
    misplacement: tally.misplacement,
    furtherLineCount,
    normalizedCount,
  }
}

async function readFile(
  connection: DuckDBConnection,
  opened: OpenedFile,
  wanted: ColumnNames,
  target: RowTarget,
  told: {
    readonly onColumns: ReadFilesOptions['onColumns']
    readonly onShare: (share: number) => void
  },
): Promise<FileRead> {
  switch (opened.kind) {
    case 'empty':
      return { acceptedCount: 0, furtherLineCount: 0, normalizedCount: 0 }
    case 'text':
      told.onColumns?.(opened.columns)
      return readTextFile(connection, opened.file, target, told.onShare)
    case 'parquet': {
      const file = await openParquet(connection, opened.name, opened.path, wanted)
      told.onColumns?.(file.columns)
      return readParquetFile(connection, file, target, told.onShare)
    }
  }
}

function pathsOf(opened: OpenedFile): string[] {
  if (opened.kind === 'empty') return []
  return [opened.kind === 'text' ? opened.file.layout.path : opened.path]
}
