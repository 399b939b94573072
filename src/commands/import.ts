/**
 * `hickory import`: recipients from CSV files into a new snapshot.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { type DataLock, withDataLock } from '../snapshot/lock.js'
import { listSources } from '../snapshot/open.js'
import { publishSource } from '../snapshot/publish.js'
import { type RecipientRead, readRecipientFiles } from '../sources/files.js'
import { rejectReasons } from '../sources/rejects.js'
import type { CommandContext } from './context.js'
import { type Progress, print, startProgress } from './output.js'

interface Flags {
  readonly data?: string
  readonly source: string
  readonly label?: string
  readonly strict?: true
  readonly allowEmpty?: true
}

export function importCommand(context: CommandContext): Command {
  return new Command('import')
    .description('replace a source by the recipients of CSV files, in a new snapshot')
    .argument('<FILE...>', 'CSV files, plain or gzip, read in this order as one source')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .requiredOption('--source <ID>', `source to replace or add, 0 to ${limits.sourceIdMax}`)
    .option('--label <TEXT>', 'what the source is called; may be left out if it has a label')
    .option('--strict', 'publish nothing if a single row is rejected')
    .option('--allow-empty', 'let files without a row empty a source that has recipients')
    .addHelpText('after', HELP_TAIL)
    .action((paths: string[], flags: Flags) => runImport(context, paths, flags))
}

const HELP_TAIL = `
Each FILE begins with a header that names the columns number, lat and lng, in degrees, and
optionally contact; the order and the case of the names do not matter, and other columns are
ignored. Fields are separated by comma, semicolon, tab or bar, and quoted as in RFC 4180, but
number, lat, lng and contact must not hold line ends; the text is UTF-8. Recipients with the same contact are one contact; without one, those with the same number.

Rows that cannot be used are left out and counted by reason. The snapshot that is being served is
never changed: the new one takes its place when it is complete and verified, or not at all.
The exit code is 0 only if it was published.

Example:
  $ hickory import --data ./data/local --source 1 --label Residents residents.csv.gz
`

async function runImport(
  context: CommandContext,
  paths: readonly string[],
  flags: Flags,
): Promise<void> {
  const startedMs = performance.now()
  const sourceId = parseSourceId(flags.source)
  const dataDirectory = context.dataDirectory(flags.data)
  await withDataLock(dataDirectory, async (lock) => {
    const label = await chooseLabel(dataDirectory, sourceId, flags.label)
    const read = await readFiles(context, paths)
    printRead(sourceId, label, read)
    assertUsable(read, flags.strict === true)
    if (flags.allowEmpty !== true) await assertNotEmptied(dataDirectory, sourceId, read)
    const snapshotId = await publish(context, lock, { id: sourceId, label }, read)
    print(`snapshot   ${snapshotId}`)
    print(`time       ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  })
}

function parseSourceId(text: string): number {
  const id = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (id <= limits.sourceIdMax) return id
  throw new OperatorError(
    'Usage',
    `--source is an integer from 0 to ${limits.sourceIdMax}, not "${text}"`,
  )
}

async function chooseLabel(
  dataDirectory: string,
  sourceId: number,
  given: string | undefined,
): Promise<string> {
  const existing = (await listSources(dataDirectory)).find(({ id }) => id === sourceId)
  const label = given ?? existing?.label
  if (label === undefined) {
    throw new OperatorError('Usage', `source ${sourceId} is new: give it a name with --label`)
  }
  if (label.trim() === '') throw new OperatorError('Usage', '--label must not be empty')
  if (/\p{Cc}|\p{Bidi_Control}/u.test(label)) {
    throw new OperatorError('Usage', '--label needs a text without control characters')
  }
  if (Buffer.byteLength(label) > limits.labelBytes) {
    throw new OperatorError('Usage', `--label has at most ${limits.labelBytes} bytes of UTF-8`)
  }
  return label
}

async function readFiles(
  { log }: CommandContext,
  paths: readonly string[],
): Promise<RecipientRead> {
  let progress: Progress | undefined
  try {
    return await readRecipientFiles(paths, {
      onProgress: (doneBytes, totalBytes) => {
        progress ??= startProgress(log, 'reading', totalBytes, 'bytes')
        progress.update(doneBytes)
      },
    })
  } finally {
    progress?.stop()
  }
}

function printRead(sourceId: number, label: string, read: RecipientRead): void {
  print(`source     ${sourceId} ${label}`)
  print(`rows read  ${read.rowCount}`)
  print(`accepted   ${read.columns.recipientCount}`)
  print(`rejected   ${read.rejectedCount}`)
  if (read.furtherLineCount > 0) {
    print(
      `further lines ${read.furtherLineCount}, of accepted rows with line ends in other columns`,
    )
  }
  for (const { reason, count, examples } of read.rejects) {
    print(`  ${reason} ${count}: ${rejectReasons[reason]}`)
    const places = examples.map(({ file, line }) => `${file}:${line}`)
    print(`    ${places.join(', ')}${count > examples.length ? ', …' : ''}`)
  }
}

function assertUsable({ rowCount, rejectedCount }: RecipientRead, isStrict: boolean): void {
  if (rejectedCount === 0) return
  if (isStrict) {
    throw new OperatorError(
      'InputRejected',
      `--strict: ${rejectedCount} of ${rowCount} rows were rejected, nothing was published`,
    )
  }
  if (rejectedCount === rowCount) {
    throw new OperatorError('InputRejected', 'every row was rejected, nothing was published')
  }
}

/** An export that was cut short right behind its header must not empty a source unasked. */
async function assertNotEmptied(
  dataDirectory: string,
  sourceId: number,
  { rowCount }: RecipientRead,
): Promise<void> {
  if (rowCount > 0) return
  const existing = (await listSources(dataDirectory)).find(({ id }) => id === sourceId)
  if (existing === undefined || existing.recipientCount === 0) return
  throw new OperatorError(
    'InputRejected',
    `there is no row to replace the ${existing.recipientCount} recipients of source ${sourceId}, ` +
      'nothing was published; --allow-empty empties it',
  )
}

async function publish(
  { log }: CommandContext,
  lock: DataLock,
  source: { readonly id: number; readonly label: string },
  { columns }: RecipientRead,
): Promise<string> {
  const progress = startProgress(log, 'building and writing', columns.recipientCount, 'recipients')
  try {
    const { snapshotId } = await publishSource(lock, source, columns, {
      log,
      onProgress: progress.update,
    })
    return snapshotId
  } finally {
    progress.stop()
  }
}
