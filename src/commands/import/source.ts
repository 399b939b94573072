/**
 * One source of an import: its input, and whether its recipients may be published.
 *
 * @module
 */
import { rm } from 'node:fs/promises'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Log } from '../../log.js'
import { listSources } from '../../snapshot/load/open.js'
import { removeOnExit } from '../../snapshot/publish/remove-on-exit.js'
import type {
  ColumnNames,
  OnReadProgress,
  ReadReport,
  RecipientSink,
  RowOptions,
} from '../../sources/batch.js'
import type { FileFormat } from '../../sources/files/file-format.js'
import { readFiles } from '../../sources/files/read-files.js'
import { previewPostgres, readPostgres } from '../../sources/postgres/read-postgres.js'
import { type Preview, previewFiles } from '../../sources/preview.js'
import { type Progress, startProgress } from '../output.js'

export interface ImportSource {
  readonly id: number
  /** Left out for a source that has one. */
  readonly label: string | undefined
  readonly input: SourceInput
  readonly columns: ColumnNames
  readonly rowOptions: RowOptions
  readonly isStrict: boolean
  readonly mayBeEmpty: boolean
}

export type SourceInput =
  | { readonly patterns: readonly string[]; readonly format: FileFormat | undefined }
  | { readonly url: string; readonly query: string }

/** Reads all of it into the sink, and says how far it is. */
export async function readSource(
  log: Log,
  source: ImportSource,
  sink: RecipientSink,
  spool: string,
): Promise<ReadReport> {
  return await withProgress(log, async (onProgress) => {
    const { input, columns, rowOptions } = source
    if ('url' in input) {
      return await readPostgres({ ...input, columns, rowOptions }, sink, { onProgress })
    }
    return await withSpool(spool, (spoolDirectory) =>
      readFiles({ ...input, columns, rowOptions, spoolDirectory }, sink, { onProgress }),
    )
  })
}

/** Reads all of it and keeps the first rows alone. */
export async function previewSource(
  log: Log,
  source: ImportSource,
  rowCount: number,
  spool: string,
): Promise<Preview> {
  return await withProgress(log, async (onProgress) => {
    const { input, columns, rowOptions } = source
    if ('url' in input) {
      return await previewPostgres({ ...input, columns, rowOptions }, rowCount, { onProgress })
    }
    return await withSpool(spool, (spoolDirectory) =>
      previewFiles({ ...input, columns, rowOptions, spoolDirectory }, rowCount, { onProgress }),
    )
  })
}

async function withProgress<Result>(
  log: Log,
  read: (onProgress: OnReadProgress) => Promise<Result>,
): Promise<Result> {
  let progress: Progress | undefined
  try {
    return await read((done, total, unit) => {
      progress ??= startProgress(log, 'reading', total, unit)
      progress.update(done)
    })
  } finally {
    progress?.stop()
  }
}

/**
 * With a directory for what cannot be read twice. Who reads makes it if need be; it is gone
 * afterwards, and when the process is stopped.
 */
async function withSpool<Result>(
  directory: string,
  use: (spoolDirectory: string) => Promise<Result>,
): Promise<Result> {
  const removal = removeOnExit(directory, true)
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
    removal.forget()
  }
}

/** Refuses what must not take the place of what is there. */
export async function assertPublishable(
  dataDirectory: string,
  source: ImportSource,
  { rowCount, rejectedCount }: ReadReport,
): Promise<void> {
  if (source.isStrict && rejectedCount > 0) {
    throw new OperatorError(
      'InputRejected',
      `--strict: ${rejectedCount} of ${rowCount} rows were rejected, nothing was published`,
    )
  }
  if (rejectedCount > 0 && rejectedCount === rowCount) {
    throw new OperatorError('InputRejected', 'every row was rejected, nothing was published')
  }
  if (rowCount === 0 && !source.mayBeEmpty) await assertNotEmptied(dataDirectory, source)
}

/** An export that was cut short right behind its header must not empty a source unasked. */
async function assertNotEmptied(dataDirectory: string, source: ImportSource): Promise<void> {
  const existing = (await listSources(dataDirectory)).find(({ id }) => id === source.id)
  const existingCount = existing?.recipientCount ?? 0
  if (existingCount > 0) {
    throw new OperatorError(
      'InputRejected',
      `there is no row to replace the ${existingCount} recipients of source ${source.id}, ` +
        'nothing was published; --allow-empty empties it',
    )
  }
  if ('query' in source.input) {
    throw new OperatorError(
      'InputRejected',
      'the query gave no row, nothing was published; --allow-empty accepts an empty source',
    )
  }
}

/** The label of each source: the one that is given, or the one that it has. */
export async function labelSources(
  dataDirectory: string,
  sources: readonly ImportSource[],
): Promise<(ImportSource & { readonly label: string })[]> {
  // Where the snapshot is damaged, sources that bring their labels can be imported all the same.
  const isComplete = sources.every(({ label }) => label !== undefined)
  const existing = isComplete ? [] : await listSources(dataDirectory)
  return sources.map((source) => {
    const label = source.label ?? existing.find(({ id }) => id === source.id)?.label
    if (label !== undefined) return { ...source, label }
    throw new OperatorError('Usage', `source ${source.id} is new: give it a name with --label`)
  })
}

/** @param origin  of the label, such as `--label` */
export function checkLabel(label: string, origin: string): string {
  if (label.trim() === '') throw new OperatorError('Usage', `${origin} must not be empty`)
  if (/\p{Cc}|\p{Bidi_Control}/u.test(label)) {
    throw new OperatorError('Usage', `${origin} needs a text without control characters`)
  }
  if (Buffer.byteLength(label) > limits.labelBytes) {
    throw new OperatorError('Usage', `${origin} has at most ${limits.labelBytes} bytes of UTF-8`)
  }
  return label
}
