/**
 * `hickory suppress`: changes the suppression lists of a data directory from files.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { numberColumns } from '../sources/choose-columns.js'
import { E164Numbers, parseNormalization } from '../sources/rows/e164.js'
import { notationFault } from '../sources/rows/notation.js'
import { rejectReasons } from '../sources/rows/rejects.js'
import { createStore, type MainStore } from '../store/store.js'
import type { Scope } from '../store/suppressions.js'
import {
  type Normalize,
  type PhonesRead,
  type RowFault,
  readPhones,
} from '../suppressions/read-phones.js'
import type { CommandContext } from './context.js'
import { assertThere } from './existing-directory.js'
import { parseSourceId } from './ids.js'
import { print, roomToPrint } from './output.js'
import { openStoreDesk, type StoreDesk } from './store-desk.js'
import { reportHits } from './suppressed-hits.js'

interface Flags {
  readonly data?: string
  readonly source?: string
  readonly number?: string
  readonly normalize?: string
  readonly remove?: true
  readonly replace?: true
  readonly allowEmpty?: true
  readonly list?: true
  readonly count?: true
}

export function suppressCommand(context: CommandContext): Command {
  return new Command('suppress')
    .description(
      'put numbers on a suppression list, so that they are never counted and never listed',
    )
    .argument('[FILE...]', 'text or CSV files, plain or gzip; - is standard input')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--source <ID>', 'the list of one source, which need not exist; default all sources')
    .option(
      '--number <COLUMN>',
      'column of the numbers (default number, phone and the like, as for import)',
    )
    .option(
      '--normalize <e164:CC>',
      'write numbers as E.164; those without a calling code are of CC',
    )
    .option('--remove', 'remove the numbers from the list instead')
    .option('--replace', 'make the files the list, and remove all other numbers')
    .option('--allow-empty', 'let --replace empty a list')
    .option('--list', 'print the numbers of the list, one a line')
    .option('--count', 'print how many numbers each list has')
    .addHelpText('after', HELP_TAIL)
    .action((paths: string[], flags: Flags) => runSuppress(context, paths, flags))
}

const HELP_TAIL = `
Each FILE has one number a line, or a header that names the column of numbers. Numbers are compared
byte for byte with imported numbers, so write them in the same way, or give the --normalize of the import. The command says how many
recipients of the current snapshot have the numbers of each FILE, and warns if most of them belong to
nobody, if they would be found in another notation, and if there is no such source.

The command may run beside services of the data directory. When it ends with exit code 0, every
service has applied the change. On a machine of a cluster its service must run, and every machine that is
level has applied the change. The command leaves out rows that cannot be numbers and counts them by
reason. The exit code is then 5, and --replace changes nothing.

Examples:
  $ hickory suppress --data ./data/local suppressed.txt
  $ hickory suppress --data ./data/local --source 1 --replace opted-out.csv.gz
  $ echo +9995550101 | hickory suppress --data ./data/local --remove -
`

function normalization({ normalize, remove }: Flags): Normalize | undefined {
  // What an earlier release has put on a list can be taken off it.
  if (normalize === undefined) return remove === true ? undefined : withDigits
  const numbers = new E164Numbers(parseNormalization(normalize, '--normalize'))
  return (phone) => {
    const bytes = Buffer.from(phone)
    const fault = notationFault(bytes, 0, bytes.length, true)
    return fault === undefined ? numbers.read(phone) : { number: '', fault }
  }
}

/** Numbers of an earlier import are taken as they are, but for words: who has none cannot be called. */
const withDigits: Normalize = (number) => ({
  number,
  fault: /\p{Nd}/u.test(number) ? undefined : 'NumberWithoutDigits',
})

async function runSuppress(
  context: CommandContext,
  paths: readonly string[],
  flags: Flags,
): Promise<void> {
  const scope: Scope = flags.source === undefined ? 'all' : parseSourceId(flags.source)
  const dataDirectory = context.dataDirectory(flags.data)
  const isReading = flags.list === true || flags.count === true
  assertMeant(paths, flags, isReading)
  const read = isReading
    ? undefined
    : await readPhones(paths, flags.number, numberColumns, normalization(flags))
  if (read !== undefined) assertUsable(read, flags)
  assertThere(dataDirectory)
  if (read === undefined) {
    const store = await createStore(dataDirectory, context.log)
    try {
      if (flags.count === true) printCounts(store)
      else await printList(store, scope)
    } finally {
      await store.close()
    }
    return
  }
  const desk = await openStoreDesk(context, dataDirectory)
  try {
    await change(context, desk, dataDirectory, scope, read, flags)
  } finally {
    await desk.close()
  }
}

function assertMeant(paths: readonly string[], flags: Flags, isReading: boolean): void {
  const kinds = [flags.remove, flags.replace, flags.list, flags.count]
  if (kinds.filter((flag) => flag === true).length > 1) {
    throw new OperatorError('Usage', 'give one of --remove, --replace, --list and --count')
  }
  if (isReading && paths.length > 0) {
    throw new OperatorError('Usage', '--list and --count read no FILE')
  }
  if (!isReading && paths.length === 0) throw new OperatorError('Usage', 'give a FILE, or -')
  if (isReading && (flags.number ?? flags.normalize) !== undefined) {
    throw new OperatorError('Usage', '--number and --normalize go with a FILE')
  }
  if (flags.count === true && flags.source !== undefined) {
    throw new OperatorError('Usage', '--count tells of all lists: leave out --source')
  }
  if (flags.allowEmpty === true && flags.replace !== true) {
    throw new OperatorError('Usage', '--allow-empty goes with --replace')
  }
}

function assertUsable({ rowCount, phones, rejects }: PhonesRead, flags: Flags): void {
  if (flags.replace !== true) return
  if (rejects.size > 0) {
    const count = rejectedCount(rejects)
    printRejects(rejects)
    throw new OperatorError(
      'InputRejected',
      `--replace: ${count} of ${rowCount} rows were rejected, nothing was changed`,
    )
  }
  if (phones.size > 0 || flags.allowEmpty === true) return
  throw new OperatorError(
    'InputRejected',
    'there is no number in the files, nothing was changed; --allow-empty empties the list',
  )
}

async function change(
  context: CommandContext,
  desk: StoreDesk,
  dataDirectory: string,
  scope: Scope,
  read: PhonesRead,
  flags: Flags,
): Promise<void> {
  const { rowCount, phones, rejects } = read
  print(`list       ${scope === 'all' ? 'of all sources' : `of source ${scope}`}`)
  print(`rows read  ${rowCount}`)
  if (flags.normalize !== undefined)
    print(`normalized ${read.normalizedCount} numbers were changed`)
  print(`numbers    ${phones.size}`)
  printRejects(rejects)
  // What is to be on the list is put there first, so that at no time less is on it than must be.
  const isRemoval = flags.remove === true
  const given = await applyBatches(desk, scope, batchesOf(phones.keys()), isRemoval)
  print(`${isRemoval ? 'taken off ' : 'new       '} ${given.changedCount}`)
  print(`${isRemoval ? 'not there ' : 'already there'} ${given.unchangedCount}`)
  let { version } = given
  if (flags.replace === true) {
    await desk.catchUp()
    const others = await applyBatches(desk, scope, othersOnList(desk.store, scope, phones), true)
    print(`taken off  ${others.changedCount}`)
    version = Math.max(version, others.version)
  }
  context.record?.({ scope, suppressionVersion: version, changedCount: given.changedCount })
  await desk.untilSuppressionsTaken()
  await reportHits(dataDirectory, scope, read)
  if (rejects.size === 0) return
  throw new OperatorError(
    'InputRejected',
    `${rejectedCount(rejects)} of ${rowCount} rows were rejected; the others are stored`,
  )
}

/** Each batch is on disk before the next one begins, and services go on in between. */
async function applyBatches(
  desk: StoreDesk,
  scope: Scope,
  batches: Iterable<readonly string[]>,
  isRemoval: boolean,
): Promise<{ version: number; changedCount: number; unchangedCount: number }> {
  const sum = { version: desk.store.suppressions.version(), changedCount: 0, unchangedCount: 0 }
  for (const phones of batches) {
    const partly = (reason: string) =>
      new OperatorError(
        'Failed',
        `${sum.changedCount} numbers are stored, others are not: ${reason}`,
      )
    const outcome = await desk
      .suppress({ kind: 'suppressions', scope, phones, isRemoval })
      .catch((fault: Error) => {
        throw partly(fault.message)
      })
    if (!outcome.isMade) throw partly(outcome.message)
    sum.version = outcome.changed.version
    sum.changedCount += outcome.changed.changedCount
    sum.unchangedCount += outcome.changed.unchangedCount
    await turn()
  }
  return sum
}

function* batchesOf(phones: Iterable<string>): Generator<readonly string[]> {
  let batch: string[] = []
  for (const phone of phones) {
    batch.push(phone)
    if (batch.length < limits.suppressionBatchCount) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** What a list has beyond some phones; what is read of it may be taken off meanwhile. */
function* othersOnList(
  store: MainStore,
  scope: Scope,
  phones: ReadonlyMap<string, unknown>,
): Generator<readonly string[]> {
  for (const page of pagesOf(store, scope)) {
    const others = page.filter((phone) => !phones.has(phone))
    if (others.length > 0) yield others
  }
}

function* pagesOf({ suppressions }: MainStore, scope: Scope): Generator<readonly string[]> {
  let after: string | undefined
  for (;;) {
    const page = suppressions.page(scope, after, limits.suppressionBatchCount)
    const phones = page.suppressions.map(({ phone }) => phone)
    yield phones
    after = phones.at(-1)
    if (page.isLast || after === undefined) return
  }
}

function printRejects(rejects: PhonesRead['rejects']): void {
  print(`rejected   ${rejectedCount(rejects)}`)
  for (const [reason, { count, places }] of rejects) {
    print(`  ${reason} ${count}: ${REASONS[reason]}`)
    print(`    ${places.join(', ')}${count > places.length ? ', …' : ''}`)
  }
}

const REASONS: Readonly<Record<RowFault, string>> = {
  FieldCountWrong: 'the row has more or fewer fields than the header, or there is no header',
  EncodingInvalid: 'the number is not UTF-8',
  NumberEmpty: 'the number is missing or only white space',
  NumberTooLong: `the number is longer than ${limits.phoneBytes} bytes`,
  NumberUnprintable: 'the number contains a control character',
  NumberFormula: 'the number starts with = or @, as none that is imported does',
  NumberErrorCell: rejectReasons.NumberErrorCell,
  NumberQuoted: rejectReasons.NumberQuoted,
  NumberDecimal: rejectReasons.NumberDecimal,
  NumberAmount: rejectReasons.NumberAmount,
  NumberSeveral: rejectReasons.NumberSeveral,
  NumberLetters: rejectReasons.NumberLetters,
  NumberForeignDigits: rejectReasons.NumberForeignDigits,
  NumberWithoutDigits: rejectReasons.NumberWithoutDigits,
  NumberZero: rejectReasons.NumberZero,
  NumberImpossible: rejectReasons.NumberImpossible,
  NumberExtension: rejectReasons.NumberExtension,
}

function rejectedCount(rejects: PhonesRead['rejects']): number {
  return [...rejects.values()].reduce((sum, { count }) => sum + count, 0)
}

function printCounts({ suppressions }: MainStore): void {
  for (const { scope, count } of suppressions.lists()) {
    print(`${scope === 'all' ? 'all sources' : `source ${scope}`} ${count}`)
  }
}

async function printList(store: MainStore, scope: Scope): Promise<void> {
  for (const page of pagesOf(store, scope)) {
    for (const phone of page) print(phone)
    await roomToPrint()
  }
}
