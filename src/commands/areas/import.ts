/**
 * `hickory areas import`: makes a layer of the gazetteer of the features of files.
 *
 * @module
 */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Command, Option } from 'commander'
import { OperatorError } from '../../errors.js'
import { readCrsName } from '../../gazetteer/crs/crs-statement.js'
import { hasAreas } from '../../gazetteer/directory.js'
import { type DraftPlan, DraftTally, draftAreas } from '../../gazetteer/drafts/draft-areas.js'
import { fieldTemplate, readTemplate, type Template } from '../../gazetteer/drafts/template.js'
import { type AreaFileFormat, areaFileFormats } from '../../gazetteer/files/open-area-file.js'
import type { DraftLayer, WrittenLayers } from '../../gazetteer/write-layers.js'
import { removeOnExit } from '../../snapshot/publish/remove-on-exit.js'
import type { CommandContext } from '../context.js'
import { startProgress } from '../output.js'
import { DATA_OPTION, type DataFlag, existingData } from './data-option.js'
import { printTally } from './tally-report.js'
import { printWritten, writeOrEnd } from './written.js'

interface Flags extends DataFlag {
  readonly layer?: string
  readonly key?: string
  readonly name?: string
  readonly alias?: readonly string[]
  readonly where?: readonly string[]
  readonly crs?: string
  readonly format?: AreaFileFormat
  readonly table?: string
  readonly encoding?: string
  readonly merge?: true
  readonly skipInvalid?: true
  readonly source?: string
  readonly licence?: string
  readonly default?: true
  readonly dryRun?: true
}

export function addImport(command: Command, context: CommandContext): void {
  const all = (value: string, before: readonly string[] = []) => [...before, value]
  command
    .command('import')
    .description('add a layer, or replace it, with the areas of files')
    .argument('[FILE...]', 'files, which become one layer')
    .option('--layer <NAME>', 'the layer, such as counties')
    .option('--key <FIELD>', 'field with the key of an area, or a template of fields')
    .option('--name <FIELD>', 'field with its name, or a template; default: the key')
    .option('--alias <SCHEME=TEMPLATE>', "another name, such as 'SAME=0{GEOID}'; repeatable", all)
    .option('--where <FIELD=VALUE>', 'take only features with this value; repeatable', all)
    .option(
      '--crs <SYSTEM>',
      'coordinate system, in place of what the files say: EPSG:4269, +proj=…',
    )
    .addOption(
      new Option('--format <NAME>', 'format of a text file that does not tell it').choices(
        areaFileFormats,
      ),
    )
    .option('--table <NAME>', 'layer, object or shapefile to read, where a file has several')
    .option('--encoding <NAME>', 'encoding of the texts of a shapefile, if it does not say it')
    .option('--merge', 'features with the same key are one area')
    .option('--skip-invalid', 'leave out features without a key or an area, and say which')
    .option('--source <TEXT>', 'where the layer comes from; default: the names of the files')
    .option('--licence <TEXT>', 'the licence of the data')
    .option('--default', 'write the layers that come with the program again, and read no file')
    .option('--dry-run', 'show what would be imported, and change nothing')
    .option(...DATA_OPTION)
    .addHelpText('after', HELP_TAIL)
    .action((paths: string[], flags: Flags) => importAreas(context, paths, flags))
}

const HELP_TAIL = `
Files are GeoJSON (also one feature a line, gzip or zstd), TopoJSON, shapefiles (the .shp, or a .zip with all of
it), GeoPackage, FlatGeobuf, KML, KMZ and GeoParquet. Coordinates in other systems than WGS 84 are projected;
a system that is not known is refused by its name. An import changes nothing unless all of it can be read.

A template has fields in braces: 0{GEOID}, {STUSPS}C{COUNTYFP}. {FIPS:2:5} is the third to the fifth character.
An area whose field is empty lacks the alias, and the report counts these.

Examples:
  $ hickory areas import --layer counties --key GEOID --name NAMELSAD --alias 'SAME=0{GEOID}' \\
      --alias 'UGC={STUSPS}C{COUNTYFP}' counties.zip
  $ hickory areas import --layer zones --key STATE_ZONE --name NAME --alias 'UGC={STATE}Z{ZONE}' \\
      --dry-run zones.shp
  $ hickory areas import --layer islands --key iso_a3 --merge --where 'type=Country' islands.geojson.gz
`

async function importAreas(
  context: CommandContext,
  paths: readonly string[],
  flags: Flags,
): Promise<void> {
  context.lowerPriority?.()
  if (flags.default === true) {
    await importDefault(context, paths, flags)
    return
  }
  const layer = given(flags.layer, '--layer NAME')
  const plan = planOf(paths, given(flags.key, '--key FIELD'), flags)
  const tally = new DraftTally()
  const write = (dataDirectory: string, others: readonly DraftLayer[]) =>
    writeOrEnd(dataDirectory, {
      set: [
        ...others,
        {
          layer,
          source: flags.source ?? sourceOf(paths),
          ...(flags.licence !== undefined && { licence: flags.licence }),
          areas: draftAreas(plan, tally),
        },
      ],
      onProgress: (areaCount) => progress.update(areaCount),
    })
  const dataDirectory = flags.dryRun === true ? undefined : existingData(context, flags)
  const progress = startProgress(context.log, `areas of ${layer}`, 0, 'areas')
  let written: WrittenLayers | undefined
  try {
    if (dataDirectory === undefined) await inPassing((directory) => write(directory, []))
    else written = await write(dataDirectory, await besideIt(dataDirectory, layer))
  } finally {
    progress.stop()
  }
  printTally(tally, written === undefined)
  if (written === undefined) return
  context.record?.({ layer, areaCount: tally.areaCount, areasVersion: written.version })
  printWritten(written)
}

/** What comes with the program is there, whether a service or an import comes first. */
async function besideIt(dataDirectory: string, layer: string): Promise<readonly DraftLayer[]> {
  if (hasAreas(dataDirectory)) return []
  const { defaultLayers } = await import('../../gazetteer/default-layers.js')
  return defaultLayers().filter((each) => each.layer.toLowerCase() !== layer.toLowerCase())
}

/** A dry run writes, too, so that nothing that it finds good is refused afterwards. */
async function inPassing(use: (directory: string) => Promise<unknown>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-areas-'))
  const removal = removeOnExit(directory, false)
  try {
    await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
    removal.forget()
  }
}

async function importDefault(
  context: CommandContext,
  paths: readonly string[],
  flags: Flags,
): Promise<void> {
  const others = Object.keys(flags).filter((name) => name !== 'default' && name !== 'data')
  if (paths.length > 0 || others.length > 0) {
    throw new OperatorError('Usage', '--default reads no file, and takes no flag but --data')
  }
  const dataDirectory = existingData(context, flags)
  const { defaultLayers } = await import('../../gazetteer/default-layers.js')
  const written = await writeOrEnd(dataDirectory, { set: defaultLayers() })
  context.record?.({ areasVersion: written.version })
  printWritten(written)
}

function given(value: string | undefined, flag: string): string {
  if (value !== undefined) return value
  throw new OperatorError('Usage', `${flag} is missing; only --default goes without it`)
}

function planOf(paths: readonly string[], key: string, flags: Flags): DraftPlan {
  if (paths.length === 0)
    throw new OperatorError('Usage', 'no file is named: name the files of the layer')
  if (paths.includes('-')) {
    throw new OperatorError('Usage', 'areas are not read from standard input: name a file')
  }
  const { name, crs } = flags
  return {
    paths,
    format: flags.format,
    table: flags.table,
    encoding: flags.encoding,
    crs: crs === undefined ? undefined : readCrsName(crs),
    key: templateOf(key, '--key'),
    name: name === undefined ? undefined : templateOf(name, '--name'),
    aliases: (flags.alias ?? []).map((text) => {
      const [scheme, template] = halves(text, '--alias', 'SCHEME=TEMPLATE, such as SAME=0{GEOID}')
      return [scheme, readTemplate(template, '--alias')] as const
    }),
    where: (flags.where ?? []).map((text) => halves(text, '--where', 'FIELD=VALUE')),
    merges: flags.merge === true,
    skipsInvalid: flags.skipInvalid === true,
  }
}

/** The name of a field, unless there are braces in it. */
function templateOf(text: string, flag: string): Template {
  return /[{}]/.test(text) ? readTemplate(text, flag) : fieldTemplate(text)
}

function halves(text: string, flag: string, form: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)]
  throw new OperatorError('Usage', `${flag} is ${form}, not "${text}"`)
}

/** Of many files, the first ones. */
function sourceOf(paths: readonly string[]): string {
  const names = paths.slice(0, SOURCES_SHOWN_COUNT).map((path) => basename(path))
  return paths.length > SOURCES_SHOWN_COUNT ? `${names.join(', ')}, …` : names.join(', ')
}

const SOURCES_SHOWN_COUNT = 3
