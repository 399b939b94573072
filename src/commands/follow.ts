/**
 * `hickory follow`: reads the changes of a table of PostgreSQL as they are committed, and appends them to the
 * journal of the data directory.
 *
 * @module
 */
import { constants } from 'node:os'
import { Command } from 'commander'
import { readEnvironment } from '../config.js'
import { OperatorError } from '../errors.js'
import { beginFollowing, type TableCopy } from '../follow/begin.js'
import { follow } from '../follow/follow.js'
import type { FollowPlan } from '../follow/plan.js'
import { writtenByCluster } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal } from '../journal/reader.js'
import { limits } from '../limits.js'
import type { ColumnNames } from '../sources/batch.js'
import { completeUrl, hasPassword, parseDatabaseUrl } from '../sources/postgres/url.js'
import { parseNormalization } from '../sources/rows/e164.js'
import type { CommandContext } from './context.js'
import { parseSourceId } from './ids.js'
import { defaultGuards, type GivenGuards, readGuards } from './import/guards.js'
import { ImportRecord } from './import/json-report.js'
import { publishSources } from './import/publish.js'
import { checkLabel } from './import/source.js'
import { readKeepCount } from './keep.js'
import { print } from './output.js'

interface Flags extends ColumnNames, Omit<GivenGuards, 'within' | 'minRows'> {
  readonly data?: string
  readonly source: string
  readonly label?: string
  readonly table: string
  readonly slot?: string
  readonly publication?: string
  readonly normalize?: string
  readonly decimalComma?: true
  readonly allowNullIsland?: true
  readonly allowTruncate?: true
  readonly allowEmpty?: true
  readonly initialCopy?: true
  readonly keep?: string
}

export function followCommand(context: CommandContext): Command {
  return new Command('follow')
    .description('take the changes of a PostgreSQL table into a source as they are committed')
    .argument('<URL>', 'the database, postgres://user@host:5432/database')
    .requiredOption('--table <TABLE>', 'the table, such as public.people')
    .requiredOption('--source <ID>', `source to change, 0 to ${limits.sourceIdMax}`)
    .option('--initial-copy', 'make the slot, import the table as it is, and go on from there')
    .option('--label <TEXT>', 'name of the source; needed only for a new source')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--number <COLUMN>', 'column of the number; absent columns are guessed')
    .option('--lat <COLUMN>', 'column of the latitude, or of a geometry')
    .option('--lng <COLUMN>', 'column of the longitude, or of the same geometry')
    .option('--contact <COLUMN>', 'column of the contact')
    .option('--key <COLUMN>', 'column that is unique (default: that of the primary key)')
    .option('--decimal-comma', 'latitudes and longitudes may be written 29,76')
    .option(
      '--normalize <e164:CC>',
      'write numbers as E.164; those without a calling code are of CC',
    )
    .option('--allow-null-island', 'take rows with the position 0,0')
    .option('--allow-truncate', 'let TRUNCATE empty the source')
    .option('--slot <NAME>', 'replication slot (default: hickory_ and the id of the source)')
    .option('--publication <NAME>', 'publication (default: the name of the slot)')
    .option('--allow-empty', 'with --initial-copy: let an empty table empty the source')
    .option(
      '--max-rejected <N|N%>',
      `with --initial-copy: publish nothing beyond so many rejected rows (${limits.rejectedPercent}%)`,
    )
    .option(
      '--max-shrink <N|N%>',
      `with --initial-copy: publish nothing if the source would lose more (${limits.shrinkPercent}%)`,
    )
    .option(
      '--keep <N>',
      `with --initial-copy: snapshots that stay (${limits.snapshotCount}; ${limits.snapshotCountMin} at least)`,
    )
    .addHelpText('after', HELP_TAIL)
    .action((url: string, flags: Flags) => run(context, url, flags))
}

const HELP_TAIL = `
The server needs wal_level = logical, and the user REPLICATION and SELECT. The first time, --initial-copy makes the
publication and the slot and imports the table; afterwards leave it out: following goes on where it ended, with
nothing missing. Each transaction is one batch of the journal. On SIGTERM and SIGINT the command ends.
Rows are taken by the rules of an import: who is in a row that it would reject is not there.
The password comes from PGPASSWORD, ~/.pgpass or the URL, as for \`hickory import\`.

The server keeps its log until it was followed: watch its disk, and drop a slot that nobody uses any more.

Example:
  $ hickory follow 'postgres://follower@db/people?sslmode=verify-full' --table public.members \\
      --data ./data/mine --source 2 --label Members --initial-copy
`

async function run(context: CommandContext, url: string, flags: Flags): Promise<void> {
  const { log } = context
  if (hasPassword(url)) {
    log.warn(
      'a password on the command line can be seen by others: PGPASSWORD or ~/.pgpass hide it',
    )
  }
  const completed = completeUrl(url, readEnvironment())
  const plan = planOf(context, completed, flags)
  assertOfNoCluster(plan.dataDirectory)
  const signals = stopOnSignal()
  try {
    if (flags.initialCopy === true) await copyFirst(context, completed, plan, flags, signals)
    else assertNoCopyFlags(flags)
    const tally = await follow(plan, log, signals.stopped)
    log.info(tally.facts(), 'stopped')
    context.record?.({ sourceId: plan.sourceId, ...tally.facts() })
  } finally {
    signals.forget()
  }
}

/**
 * Before anything is copied: it would be refused when the first changes come.
 *
 * @throws OperatorError  Usage
 */
function assertOfNoCluster(dataDirectory: string): void {
  const directory = journalDirectory(dataDirectory)
  if (isClusterJournal(directory)) throw writtenByCluster(directory, false)
}

function planOf(context: CommandContext, url: string, flags: Flags): FollowPlan {
  const { number, lat, lng, contact, key } = flags
  const named = Object.entries({ number, lat, lng, contact, key })
  const sourceId = parseSourceId(flags.source)
  const slot = checkName(flags.slot ?? `hickory_${sourceId}`, '--slot')
  return {
    dataDirectory: context.dataDirectory(flags.data),
    sourceId,
    address: parseDatabaseUrl(url),
    table: flags.table,
    columns: Object.fromEntries(named.filter(([, column]) => column !== undefined)),
    rowOptions: {
      hasDecimalComma: flags.decimalComma === true,
      allowsNullIsland: flags.allowNullIsland === true,
      e164Region:
        flags.normalize === undefined
          ? undefined
          : parseNormalization(flags.normalize, '--normalize'),
    },
    slot,
    publication: checkName(flags.publication ?? slot, '--publication'),
    allowsTruncate: flags.allowTruncate === true,
  }
}

/** As slots may be called, which is the narrower rule. */
function checkName(name: string, flag: string): string {
  if (/^[a-z0-9_]{1,63}$/.test(name)) return name
  throw new OperatorError(
    'Usage',
    `${flag} needs 1 to 63 small letters, digits and underscores, as PostgreSQL has them`,
  )
}

function assertNoCopyFlags(flags: Flags): void {
  const given = (['label', 'allowEmpty', 'maxRejected', 'maxShrink', 'keep'] as const).find(
    (name) => flags[name] !== undefined,
  )
  if (given === undefined) return
  throw new OperatorError('Usage', `${flagOf(given)} goes with --initial-copy`)
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

async function copyFirst(
  context: CommandContext,
  url: string,
  plan: FollowPlan,
  flags: Flags,
  signals: Signals,
): Promise<void> {
  const { dataDirectory, sourceId: id, columns, rowOptions } = plan
  const keepCount = readKeepCount(context.log, dataDirectory, flags.keep)
  const guards = readGuards(flags, flagOf, defaultGuards)
  const label = flags.label === undefined ? undefined : checkLabel(flags.label, '--label')
  const record = new ImportRecord()
  const importCopy = async ({ query, snapshotName, key }: TableCopy) => {
    const source = {
      id,
      label,
      input: { url, query, snapshotName },
      columns: { ...columns, key },
      rowOptions,
      isStrict: false,
      mayBeEmpty: flags.allowEmpty === true,
      guards,
      policy: defaultGuards,
    }
    const copy = { dataDirectory, sources: [source], isList: false, keepsGoing: false }
    // Of an import, signals have their own meaning.
    signals.forget()
    await publishSources(context, { ...copy, record, keepCount })
    signals.listen()
  }
  const isCopied = await beginFollowing(plan, context.log, signals.stopped, importCopy)
  if (isCopied) print(`following  ${plan.table} by the slot ${plan.slot}`)
}

/** A first signal lets it end; a second one ends it at once. */
function stopOnSignal() {
  const stopping = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) process.exit(SIGNAL_EXIT_CODE + constants.signals[signal])
    stopping.abort()
  }
  const listen = () => {
    for (const signal of SIGNALS) process.on(signal, onSignal)
  }
  listen()
  return {
    stopped: stopping.signal,
    listen,
    forget() {
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}

type Signals = ReturnType<typeof stopOnSignal>

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** What a shell adds to the number of a signal. */
const SIGNAL_EXIT_CODE = 128
