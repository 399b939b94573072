/**
 * `hickory cap`: what an alert is for, and everything that is wrong with it, without a service.
 *
 * @module
 */

import { readFileSync, statSync } from 'node:fs'
import { Command, Option } from 'commander'
import { inspectAlert } from '../cap/alert.js'
import { describeAlert } from '../cap/describe.js'
import { type CapDrawing, type CapOptions, inspectDrawing } from '../cap/drawing.js'
import type { CapFaults } from '../cap/faults.js'
import { checkLanguage } from '../cap/infos.js'
import type { Alert } from '../cap/model.js'
import { inspectNwsAlert, isNwsAlert } from '../cap/nws-feature.js'
import { CAP_PROFILES, type CapProfile } from '../cap/profiles.js'
import { OperatorError, ServiceError } from '../errors.js'
import { openGazetteer } from '../gazetteer/gazetteer.js'
import { limits } from '../limits.js'
import { unknownGeocode } from '../selection/shapes/area-names.js'
import { assertOwnId } from '../store/check.js'
import { isRefusal, whyUnread } from '../system-refusals.js'
import type { CommandContext } from './context.js'
import { print } from './output.js'
import { formatTable, printable } from './table.js'

interface Flags {
  readonly profile?: CapProfile
  readonly language?: string
  readonly geocodes?: 'union' | 'fallback'
  readonly systems?: string
  readonly expired?: true
  /** False where it is negated. */
  readonly ended: boolean
  readonly geojson?: true
  readonly json?: true
  readonly data?: string
}

export function capCommand(context: CommandContext): Command {
  return new Command('cap')
    .description('say whom an alert of CAP is for, and what is wrong with it')
    .argument('<FILE>', 'one alert as XML, or as JSON of api.weather.gov; - is stdin')
    .addOption(new Option('--profile <NAME>', 'check the rules of a profile').choices(CAP_PROFILES))
    .option('--language <TAG>', 'only the information in this language, such as en or fr-CA')
    .addOption(
      new Option(
        '--geocodes <RULE>',
        'count geocodes beside shapes (union), or only where there are none (fallback)',
      ).choices(['union', 'fallback']),
    )
    .option('--systems <NAMES>', 'only geocodes of these systems, such as UGC,SAME')
    .option('--expired', 'draw what has expired, too')
    .option('--no-ended', 'leave out information that says that the danger is over')
    .addOption(new Option('--geojson', 'print the area as GeoJSON').conflicts('json'))
    .option('--json', 'print one JSON document')
    .option('--data <DIR>', 'look geocodes up in the gazetteer of this data directory')
    .addHelpText('after', HELP_TAIL)
    .action((file: string, flags: Flags) => cap(file, flags, context))
}

const HELP_TAIL = `
The command needs no service and no data; with --data, geocodes that the gazetteer does not have are faults. It prints
what the alert is, each block of information, each area with its polygons, holes, circles and geocodes, the bounds of
what is drawn, warnings, and all faults with their codes. A request with the alert is refused with the first of these
codes. With --geojson, circles are points with a radius in metres, and geocodes are features without a geometry. The
exit code is 0 for an alert that can be sent, and 5 for one that cannot.

Example:
  $ hickory cap alert.xml
  $ hickory cap --profile WEA --language en alert.xml
  $ curl -s https://example.org/alert.xml | hickory cap --geojson - > area.geojson
`

/** The member that a request has the alert in. */
const PATH = 'cap'

async function cap(file: string, flags: Flags, context: CommandContext): Promise<void> {
  const options = optionsOf(flags)
  const source = readSource(file)
  const { alert, faults } = inspected(source, file)
  const drawn = alert === undefined ? undefined : inspectDrawing(alert, options, faults)
  if (drawn !== undefined && flags.data !== undefined) {
    await tellUnknownAreas(drawn, faults, context.dataDirectory(flags.data))
  }
  if (flags.json === true) printJson(alert, drawn, faults)
  else if (flags.geojson === true) printGeoJson(drawn, faults)
  else printAll(alert, drawn, faults)
  const [first] = faults.list
  if (first === undefined) return
  const others = faults.list.length === 1 ? '' : `, and ${faults.list.length - 1} more`
  throw new OperatorError(
    'InputRejected',
    `${file} cannot be sent: ${first.code}: ${first.message}${others}`,
  )
}

function optionsOf({ profile, language, geocodes, systems, expired, ended }: Flags): CapOptions {
  try {
    if (language !== undefined) checkLanguage(language, '--language')
  } catch (error) {
    throw new OperatorError('Usage', `${(error as Error).message}, not "${language}"`)
  }
  return {
    nowMs: Date.now(),
    ended,
    ...(profile !== undefined && { profile }),
    ...(language !== undefined && { language }),
    ...(geocodes !== undefined && { geocodes }),
    ...(systems !== undefined && { geocodeSystems: systems.split(',') }),
    ...(expired !== undefined && { expired }),
  }
}

function readSource(file: string): Buffer {
  try {
    if (file !== '-' && statSync(file).size > limits.bodyBytes) refuseLarge(file)
    const bytes = readFileSync(file === '-' ? 0 : file)
    if (bytes.length > limits.bodyBytes) refuseLarge(file)
    return bytes
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new OperatorError('InputRejected', `${file} ${whyUnread(error)}`, { cause: error })
  }
}

function refuseLarge(file: string): never {
  const most = limits.bodyBytes / 2 ** 20
  throw new OperatorError(
    'InputRejected',
    `${file} has more than ${most} MiB, which no request may have: simplify its polygons`,
  )
}

function inspected(
  source: Buffer,
  file: string,
): { readonly alert?: Alert; readonly faults: CapFaults } {
  try {
    if (!/^\s*\{/.test(source.subarray(0, 256).toString('latin1')))
      return inspectAlert(source, PATH)
    const value: unknown = JSON.parse(source.toString('utf8'))
    if (isNwsAlert(value)) return inspectNwsAlert(value, PATH)
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new OperatorError('InputRejected', `${file} is neither XML nor JSON: check what it is`)
    }
    if (!(error instanceof ServiceError)) throw error
    throw new OperatorError('InputRejected', `${file}: ${error.code}: ${error.message}`)
  }
  throw new OperatorError(
    'InputRejected',
    `${file} is JSON, and no alert of api.weather.gov: give one Feature with its properties`,
  )
}

function printAll(
  alert: Alert | undefined,
  drawn: CapDrawing | undefined,
  faults: CapFaults,
): void {
  if (alert !== undefined && drawn !== undefined) {
    const { infos, areas, bounds, references } = describeAlert(alert, drawn)
    const { identifier, sender, sent, status, msgType, scope, version } = alert
    print(`${printable(identifier)} of ${printable(sender)}, sent ${printable(sent.text)}`)
    print(`CAP ${version}, ${[status, msgType, scope ?? 'no scope'].map(printable).join(', ')}`)
    for (const reference of references) print(`refers to ${printable(reference)}`)
    print()
    for (const line of formatTable(INFO_HEADS, infos)) print(line)
    print()
    for (const line of formatTable(AREA_HEADS, areas)) print(line)
    print()
    if (bounds !== undefined) print(`bounds: ${bounds.join(', ')} (west, south, east, north)`)
    for (const { code, message } of drawn.warnings) print(`warning: ${code}: ${message}`)
  }
  for (const { code, message } of faults.list) print(`fault: ${code}: ${message}`)
}

const INFO_HEADS = [
  '<info',
  '<language',
  '<event',
  '<response',
  '<urgency',
  '<severity',
  '<certainty',
  '<expires',
]
const AREA_HEADS = [
  '<area',
  'polygons',
  'points',
  'holes',
  'circles',
  '<altitude (feet)',
  '<geocodes',
  '<name',
]

function printGeoJson(drawn: CapDrawing | undefined, faults: CapFaults): void {
  if (drawn !== undefined && faults.list.length === 0) print(JSON.stringify(drawn.drawing))
}

function printJson(
  alert: Alert | undefined,
  drawn: CapDrawing | undefined,
  faults: CapFaults,
): void {
  const told = faults.list.map(({ code, message, field }) => ({ code, message, path: field }))
  const { drawing, warnings } = drawn ?? {}
  print(JSON.stringify({ alert, drawing, warnings, faults: told }, null, 2))
}

/** Where the gazetteer is at hand, geocodes that it does not have are faults. */
async function tellUnknownAreas(
  { geocodePaths }: CapDrawing,
  faults: CapFaults,
  dataDirectory: string,
): Promise<void> {
  await assertOwnId(dataDirectory)
  const areas = openGazetteer(dataDirectory)
  if (areas === undefined) {
    const problem = `${dataDirectory} has no areas: start a service there, or run: hickory areas import`
    throw new OperatorError('Usage', problem)
  }
  try {
    for (const [name, path] of geocodePaths) {
      if (areas.find(name) === undefined)
        faults.add('UnknownArea', path, unknownGeocode(areas, name))
    }
  } finally {
    await areas.close()
  }
}
