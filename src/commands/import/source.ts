/**
 * One source of an import: what is read of its input.
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
import { type Preview, previewFiles } from '../../sources/preview.js'
import type { RejectedSink } from '../../sources/rows/rejects.js'
import type { Encoding } from '../../sources/text/encoding.js'
import { type Progress, startProgress } from '../output.js'
import type { Guards } from './guards.js'
import { OutsideCounter } from './outside-count.js'

export interface ImportSource {
  readonly id: number
  /** Left out for a source that has one. */
  readonly label: string | undefined
  readonly input: SourceInput
  readonly columns: ColumnNames
  readonly rowOptions: RowOptions
  /** Gets every rejected row. */
  readonly rejected?: RejectedSink | undefined
  /** Told when all of it was read. */
  readonly onReport?: ((report: ReadReport) => void) | undefined
  readonly isStrict: boolean
  readonly mayBeEmpty: boolean
  /** Guards that hold for it, and those that would without flags. */
  readonly guards: Guards
  readonly policy: Guards
}

export type SourceInput =
  | {
      readonly patterns: readonly string[]
      readonly format: FileFormat | undefined
      readonly encoding: Encoding | undefined
    }
  | {
      readonly url: string
      readonly query: string
      /** As of `readPostgres`. */
      readonly snapshotName?: string
    }

/** What was read of a source. */
export interface Reading {
  readonly report: ReadReport
  /** Accepted recipients outside of the box of the guards; 0 without one. */
  readonly outsideCount: number
}

/** Reads all of it into the sink, and says how far it is. */
export async function readSource(
  log: Log,
  source: ImportSource,
  sink: RecipientSink,
  spool: string,
): Promise<Reading> {
  const counted = countOutside(source.guards)
  const target = counted.wrap(sink)
  const report = await withProgress(log, async (onProgress) => {
    const { input, columns, rowOptions, rejected } = source
    if ('url' in input) {
      // Loaded for databases alone, since files are imported far more often.
      const { readPostgres } = await import('../../sources/postgres/read-postgres.js')
      return await readPostgres({ ...input, columns, rowOptions }, target, { onProgress, rejected })
    }
    return await withSpool(spool, (spoolDirectory) =>
      readFiles({ ...input, columns, rowOptions, spoolDirectory }, target, {
        onProgress,
        rejected,
      }),
    )
  })
  source.onReport?.(report)
  return { report, outsideCount: counted.outsideCount() }
}

/** Reads all of it and keeps the first rows alone. */
export async function previewSource(
  log: Log,
  source: ImportSource,
  rowCount: number,
  spool: string,
): Promise<Preview & Reading> {
  const { wrap, outsideCount } = countOutside(source.guards)
  const preview = await withProgress(log, async (onProgress) => {
    const { input, columns, rowOptions, rejected } = source
    const options = { onProgress, rejected, wrap }
    if ('url' in input) {
      const { previewPostgres } = await import('../../sources/postgres/read-postgres.js')
      return await previewPostgres({ ...input, columns, rowOptions }, rowCount, options)
    }
    return await withSpool(spool, (spoolDirectory) =>
      previewFiles({ ...input, columns, rowOptions, spoolDirectory }, rowCount, options),
    )
  })
  source.onReport?.(preview.report)
  return { ...preview, outsideCount: outsideCount() }
}

function countOutside({ within }: Guards) {
  let counter: OutsideCounter | undefined
  return {
    wrap(sink: RecipientSink): RecipientSink {
      if (within === undefined) return sink
      counter = new OutsideCounter(sink, within)
      return counter
    },
    outsideCount: () => counter?.outsideCount ?? 0,
  }
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
