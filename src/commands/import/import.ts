/**
 * `hickory import`: reads recipients from files and databases into a new snapshot.
 *
 * @module
 */
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { readEnvironment } from '../../config.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { ColumnNames } from '../../sources/batch.js'
import { type FileFormat, fileFormats } from '../../sources/files/file-format.js'
import { inputPaths } from '../../sources/files/input-paths.js'
import { completeUrl, hasPassword } from '../../sources/postgres/url.js'
import { parseNormalization } from '../../sources/rows/e164.js'
import { type Encoding, encodings } from '../../sources/text/encoding.js'
import type { CommandContext } from '../context.js'
import { parseSourceId } from '../ids.js'
import { readKeepCount, SOURCES_FILE } from '../keep.js'
import { dryRun } from './dry-run.js'
import { defaultGuards, type GivenGuards, readGuards } from './guards.js'
import { ImportRecord, withJsonReport } from './json-report.js'
import { publishSources } from './publish.js'
import { RejectsFile } from './rejects-file.js'
import { checkLabel, type ImportSource, type SourceInput } from './source.js'
import { readSourcesFile } from './sources-file.js'

interface Flags extends ColumnNames {
  readonly maxRejected?: string
  readonly maxShrink?: string
  readonly minRows?: string
  readonly within?: string
  readonly data?: string
  readonly source?: string
  readonly label?: string
  readonly format?: FileFormat
  readonly from?: string
  readonly query?: string
  readonly encoding?: Encoding
  readonly decimalComma?: true
  readonly allowNullIsland?: true
  readonly normalize?: string
  readonly rejects?: string
  readonly json?: true
  readonly strict?: true
  readonly allowEmpty?: true
  /** True for the usual number of rows. */
  readonly dryRun?: string | true
  /** True for the file in the data directory. */
  readonly all?: string | true
  readonly keepGoing?: true
  readonly keep?: string
}

const PREVIEW_ROW_COUNT = 10

export function importCommand(context: CommandContext): Command {
  const oneSource = [
    'source',
    'label',
    'format',
    'from',
    'query',
    'allowNullIsland',
    'encoding',
    'decimalComma',
    'normalize',
    'strict',
    'allowEmpty',
  ]
  const columns = ['number', 'lat', 'lng', 'contact', 'key']
  return new Command('import')
    .description('replace sources with the recipients of files or databases, in a new snapshot')
    .argument('[FILE...]', 'files, read in this order as one source; - is standard input')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--source <ID>', `source to replace or add, 0 to ${limits.sourceIdMax}`)
    .option('--label <TEXT>', 'name of the source; needed only for a new source')
    .addOption(
      new Option('--format <NAME>', 'format of the files, if their names do not tell it').choices(
        fileFormats,
      ),
    )
    .option('--number <COLUMN>', 'column of the number; the import guesses absent columns')
    .option('--lat <COLUMN>', 'column of the latitude, or of a geometry')
    .option('--lng <COLUMN>', 'column of the longitude, or of the same geometry')
    .option('--contact <COLUMN>', 'column of the contact')
    .option('--key <COLUMN>', 'take only the first of the rows with the same value in this column')
    .option('--from <URL>', 'read from a database, postgres://user@host:5432/database')
    .option('--query <SELECT>', 'the query to read')
    .addOption(
      new Option('--encoding <NAME>', 'encoding of the files, if they are not UTF-8').choices(
        encodings,
      ),
    )
    .option('--decimal-comma', 'latitudes and longitudes may be written 29,76')
    .option(
      '--normalize <e164:CC>',
      'write numbers as E.164; those without a calling code are of CC',
    )
    .option('--allow-null-island', 'take rows with the position 0,0')
    .option('--rejects <FILE>', 'write every rejected row with its reason to a file, as CSV')
    .option('--json', 'print one JSON document and nothing else')
    .option('--strict', 'publish nothing if a single row is rejected')
    .option('--allow-empty', 'let an input without rows empty a source that has recipients')
    .option(
      '--max-rejected <N|N%>',
      `publish nothing beyond so many rejected rows (${limits.rejectedPercent}%)`,
    )
    .option(
      '--max-shrink <N|N%>',
      `publish nothing if a source would lose more (${limits.shrinkPercent}%)`,
    )
    .option('--min-rows <N>', 'publish nothing if a source would have fewer recipients')
    .option('--within <W,S,E,N>', 'publish nothing if a recipient lies outside of this box')
    .option('--dry-run [ROWS]', `show the first rows (${PREVIEW_ROW_COUNT}) and publish nothing`)
    .addOption(
      new Option('--all [FILE]', `all sources of a file (${SOURCES_FILE} of --data)`).conflicts([
        ...oneSource,
        ...columns,
      ]),
    )
    .option('--keep-going', 'with --all: publish the sources that can be read without the others')
    .option(
      '--keep <N>',
      `snapshots that stay, the new one among them (${limits.snapshotCount}; ${limits.snapshotCountMin} at least)`,
    )
    .addHelpText('after', importHelp)
    .action((paths: string[], flags: Flags, command: Command) =>
      runImport(context, paths, flags, command),
    )
}

async function runImport(
  context: CommandContext,
  paths: readonly string[],
  flags: Flags,
  command: Command,
): Promise<void> {
  context.lowerPriority?.()
  const run = (record: ImportRecord) => runRecorded(context, paths, flags, command, record)
  await (flags.json === true ? withJsonReport(run) : run(new ImportRecord()))
}

async function runRecorded(
  context: CommandContext,
  paths: readonly string[],
  flags: Flags,
  command: Command,
  record: ImportRecord,
): Promise<void> {
  const { rowCount, firstPath } = readDryRun(flags.dryRun)
  record.isDryRun = rowCount !== undefined
  const patterns = firstPath === undefined ? paths : [firstPath, ...paths]
  const dataDirectory = context.dataDirectory(flags.data)
  const isList = flags.all !== undefined
  if (isList && patterns.length > 0) {
    throw new OperatorError('Usage', '--all reads the files that are in its list: name no others')
  }
  if (flags.keepGoing === true && !isList) {
    throw new OperatorError('Usage', '--keep-going goes with --all: of one source nothing is left')
  }
  const listPath = typeof flags.all === 'string' ? flags.all : join(dataDirectory, SOURCES_FILE)
  // Read once, since it may be a pipe.
  const { sources: listed, keep } = isList
    ? readSourcesFile(listPath, readEnvironment(), context.log)
    : { sources: [readFlags(context, patterns, flags, command)] }
  const keepCount = readKeepCount(context.log, dataDirectory, flags.keep, keep)
  record.sources = listed.map((source) => ({
    ...source,
    guards: readGuards(flags, guardFlag, source.policy),
    onReport: (report) => record.reports.set(source.id, report),
  }))
  await withRejects(flags.rejects, record.sources, async (sources) => {
    const plan = { dataDirectory, sources, isList, record, keepCount }
    if (rowCount !== undefined) await dryRun(context, { ...plan, rowCount })
    else await publishSources(context, { ...plan, keepsGoing: flags.keepGoing === true })
  })
}

/** With a file for the rejected rows, if one is named. It is complete after a failure, too. */
async function withRejects(
  path: string | undefined,
  sources: readonly ImportSource[],
  use: (sources: readonly ImportSource[]) => Promise<void>,
): Promise<void> {
  if (path === undefined) return use(sources)
  const file = new RejectsFile(path, await filesToRead(sources))
  try {
    await use(sources.map((source) => ({ ...source, rejected: file.of(source.id) })))
  } finally {
    file.finish()
  }
}

async function filesToRead(sources: readonly ImportSource[]): Promise<string[]> {
  const patterns = sources.flatMap(({ input }) => ('patterns' in input ? input.patterns : []))
  // What cannot be found is a fault of its source, and told when that is read.
  const found = patterns.map((pattern) => inputPaths([pattern]).catch(() => []))
  return (await Promise.all(found)).flat()
}

/** A value that is no number is the first of the files: the parser cannot know. */
function readDryRun(value: string | true | undefined): { rowCount?: number; firstPath?: string } {
  if (value === undefined) return {}
  if (value === true) return { rowCount: PREVIEW_ROW_COUNT }
  if (!/^[0-9]+$/.test(value)) return { rowCount: PREVIEW_ROW_COUNT, firstPath: value }
  if (Number(value) <= limits.previewRowCount) return { rowCount: Number(value) }
  throw new OperatorError('Usage', `--dry-run shows at most ${limits.previewRowCount} rows`)
}

function readFlags(
  context: CommandContext,
  patterns: readonly string[],
  flags: Flags,
  command: Command,
): Omit<ImportSource, 'guards'> {
  if (flags.source === undefined) {
    command.error("error: required option '--source <ID>' not specified", {
      code: 'commander.missingMandatoryOptionValue',
    })
  }
  const { number, lat, lng, contact, key } = flags
  const named = Object.entries({ number, lat, lng, contact, key })
  return {
    id: parseSourceId(flags.source),
    label: flags.label === undefined ? undefined : checkLabel(flags.label, '--label'),
    input: readInput(context, patterns, flags, command),
    columns: Object.fromEntries(named.filter(([, column]) => column !== undefined)),
    rowOptions: {
      hasDecimalComma: flags.decimalComma === true,
      allowsNullIsland: flags.allowNullIsland === true,
      e164Region:
        flags.normalize === undefined
          ? undefined
          : parseNormalization(flags.normalize, '--normalize'),
    },
    isStrict: flags.strict === true,
    mayBeEmpty: flags.allowEmpty === true,
    policy: defaultGuards,
  }
}

function guardFlag(name: keyof GivenGuards): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function readInput(
  { log }: CommandContext,
  patterns: readonly string[],
  { from, query, format, encoding }: Flags,
  command: Command,
): SourceInput {
  if (from === undefined) {
    if (query !== undefined) throw new OperatorError('Usage', '--query goes with --from')
    if (patterns.length === 0) {
      command.error("error: missing required argument 'FILE'", {
        code: 'commander.missingArgument',
      })
    }
    return { patterns, format, encoding }
  }
  if (patterns.length > 0) {
    throw new OperatorError('Usage', 'a source is read from files or with --from, not from both')
  }
  if (query === undefined) throw new OperatorError('Usage', '--from needs --query "select …"')
  if (format !== undefined) throw new OperatorError('Usage', '--format goes with files')
  if (encoding !== undefined) throw new OperatorError('Usage', '--encoding goes with files')
  if (hasPassword(from)) {
    log.warn(
      'a password on the command line can be seen by others: PGPASSWORD or ~/.pgpass hide it',
    )
  }
  return { url: completeUrl(from, readEnvironment()), query }
}

/** Below the options. */
const importHelp = `
Files are CSV (UTF-8 or --encoding, with a header, and fields separated by comma, semicolon, tab or
bar), NDJSON, Parquet (also GeoParquet) or GeoJSON points, plain, gzip or zstd. Points may also be WKB.
The import finds columns by their names, such as number, lat, lng and contact in any letter case;
--dry-run shows the columns that it chose. Recipients with the same contact are one contact. Recipients
without a contact are one contact if they have the same number.

A query is one SELECT, read in a read-only transaction. A column of PostGIS points may replace latitude
and longitude. The password comes from PGPASSWORD, ~/.pgpass or the URL. sslmode in the URL decides on
TLS (disable, allow, prefer, require, verify-ca, verify-full).

The import leaves out unusable rows and counts them by reason; --rejects writes them to a file that only
its owner can read, and that must not be there yet, unless --rejects wrote it. The import never changes
the snapshot that is served. The new snapshot takes its place when it is complete and verified, or not at all. The exit code
is 0 only if everything was published, and 10 if --keep-going left sources out. An import runs at a low
priority (nice 10), so a service on the same machine goes first.

Guards hold back an import that looks wrong: it publishes nothing, says what it found and which flag lets
it through, and ends with exit code 11. One rejected row of three is 33%: a small file needs the flag.

--all reads {"sources": [{"id": 1, "label": "Residents", "files": ["residents-*.csv.gz"]},
{"id": 2, "from": "postgres://reader:\${DB_PASSWORD}@db/people", "query": "select …"}]}; a source may
have "format", "columns": {"number": "phone"}, "normalize": "e164:US", "encoding", "decimalComma",
"allowNullIsland", "strict", "allowEmpty" and guards: "maxRejected": "2%", "maxShrink", "minRows", "within": [-96, 29, -95, 30]. Guards
beside "sources" hold for all that have none; a flag takes the place of both. If one source fails, all fail, unless --keep-going is given.

Examples:
  $ hickory import --data ./data/local --source 1 --label Residents residents.csv.gz
  $ hickory import --source 1 --dry-run 20 --number phone --lat y --lng x residents.parquet
  $ hickory import --source 2 --label Members --from 'postgres://reader@db/people?sslmode=verify-full' \\
      --query 'select phone as number, geom, household as contact from members'
  $ unzip -p residents.zip | hickory import --source 1 --format csv -
  $ hickory import --data /var/lib/hickory --all --keep-going
`
