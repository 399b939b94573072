/**
 * `hickory verify`: tells file by file whether snapshots on disk are intact.
 *
 * @module
 */

import { Command } from 'commander'
import { verifyAudiences } from '../audiences/directory.js'
import { OperatorError } from '../errors.js'
import { verifyAreas } from '../gazetteer/verify.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal } from '../journal/reader.js'
import { type SnapshotState, verifySnapshot } from '../snapshot/load/verify.js'
import { DAMAGED, ORIGIN_FILE, readOrigin } from '../snapshot/retention/origin.js'
import { readPins } from '../snapshot/retention/pins.js'
import { assertOwnId } from '../store/check.js'
import type { CommandContext } from './context.js'
import { chosenId, readSnapshotIds, type SnapshotIds } from './ids.js'
import { print } from './output.js'
import { formatBytes } from './quantities.js'
import { formatTable } from './table.js'

interface Flags {
  readonly data?: string
  readonly all?: true
  readonly json?: true
}

export function verifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .description('read every byte of a snapshot and say whether it is intact')
    .argument('[ID]', 'snapshot to verify; default: the current one')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--all', 'verify all snapshots, CURRENT and audiences')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action((id: string | undefined, flags: Flags) => verify(context, id, flags))
}

const HELP_TAIL = `
The command verifies everything that a service verifies when it opens a snapshot. It also verifies the
SHA-256 of every file, and that the repeated numbers are those of the recipients. It changes nothing,
and a service or an import may run at the same time. It says, too, when \`origin.json\` of a snapshot or
\`pins.json\` of the directory cannot be read; recipients are not in these. With --all it verifies
audiences, too; of those that have expired, damage is shown and not counted. The exit code is 0 if everything
is intact, and 4 if anything is damaged. The areas that requests name are verified as well.

Example:
  $ hickory verify --data ./data/local
  $ hickory verify --data ./data/local --all --json
`

async function verify(
  context: CommandContext,
  given: string | undefined,
  { data, all, json }: Flags,
): Promise<void> {
  if (given !== undefined && all === true) {
    throw new OperatorError('Usage', 'either an ID or --all, not both')
  }
  const dataDirectory = context.dataDirectory(data)
  await assertOwnId(dataDirectory)
  const known = await readSnapshotIds(dataDirectory)
  const ids = all === true ? known.ids : [chosenId(known, given ?? 'current')]
  const pinsFault = await faultOf(readPins(dataDirectory))
  const states: VerifiedSnapshot[] = []
  for (const id of ids) {
    const originFault = await faultOf(readSoundOrigin(dataDirectory, id))
    const state = { ...(await verifySnapshot(dataDirectory, id)), originFault }
    states.push(state)
    if (json !== true) printState(state, known)
  }
  const currentFault = all === true ? known.current.fault : undefined
  const audiences = all === true ? await verifyAudiences(dataDirectory, Date.now()) : []
  const areas = await foundAreas(dataDirectory, all === true)
  const found = { states, currentFault, pinsFault, audiences, areas }
  if (json === true) printJson(found, known)
  else {
    if (currentFault !== undefined) print(`CURRENT  damaged: ${currentFault}`)
    if (pinsFault !== undefined) print(`pins.json  damaged: ${pinsFault}`)
    for (const { id, snapshotId, digest, fault, isExpired } of audiences) {
      const state = fault === undefined ? `intact, digest ${digest}` : `damaged: ${fault}`
      print(`audience ${id} of ${snapshotId}  ${isExpired ? 'expired, ' : ''}${state}`)
    }
  }
  if (json !== true) printAreas(areas)
  assertWhole(dataDirectory, found)
}

/** A CURRENT that cannot be read is a fault of a version whose name nobody knows. */
async function foundAreas(dataDirectory: string, isAll: boolean): Promise<Found['areas']> {
  try {
    const states = await verifyAreas(dataDirectory, isAll ? 'all' : 'current')
    return states.map(({ version, isCurrent, fault }) => ({ version, isCurrent, fault }))
  } catch (error) {
    return [{ version: 'CURRENT', isCurrent: true, fault: (error as Error).message }]
  }
}

function printAreas(areas: Found['areas']): void {
  for (const { version, isCurrent, fault } of areas) {
    const state = fault === undefined ? 'intact' : `damaged: ${fault}`
    print(`areas ${version}${isCurrent ? ' (current)' : ''}  ${state}`)
  }
}

interface VerifiedSnapshot extends SnapshotState {
  /** Recipients are not in this file: a snapshot without it can be served. */
  readonly originFault: string | undefined
}

interface Found {
  readonly states: readonly VerifiedSnapshot[]
  readonly currentFault: string | undefined
  readonly pinsFault: string | undefined
  /** Of `--all`. */
  readonly audiences: Awaited<ReturnType<typeof verifyAudiences>>
  /** Versions of the gazetteer. */
  readonly areas: readonly {
    readonly version: string
    readonly isCurrent: boolean
    readonly fault: string | undefined
  }[]
}

async function readSoundOrigin(dataDirectory: string, id: string): Promise<void> {
  if ((await readOrigin(dataDirectory, id)) === DAMAGED)
    throw new Error('it is not as it was written')
}

async function faultOf(reading: Promise<unknown>): Promise<string | undefined> {
  try {
    await reading
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function printState(state: VerifiedSnapshot, { current }: SnapshotIds): void {
  const { snapshotId, isWhole, isNewer, files, originFault } = state
  const unusable = isNewer ? 'newer' : 'damaged'
  const which = current.snapshotId === snapshotId ? ' (current)' : ''
  print(`${snapshotId}${which}  ${isWhole ? 'intact' : unusable}`)
  const rows = files.map(({ file, byteLength, fault }) => [
    file,
    formatBytes(byteLength),
    fault === undefined ? 'intact' : `${unusable}: ${fault}`,
  ])
  if (originFault !== undefined) rows.push([ORIGIN_FILE, '', `damaged: ${originFault}`])
  for (const line of formatTable(['<file', 'size', '<state'], rows)) print(`  ${line}`)
}

function printJson(
  { states, currentFault, pinsFault, audiences, areas }: Found,
  { current }: SnapshotIds,
): void {
  const areWhole = states.every((state) => state.isWhole && state.originFault === undefined)
  const areSound = audiences.every((audience) => !isUnsound(audience))
  const areAreasSound = areas.every(({ fault }) => fault === undefined)
  const isWhole =
    areWhole && areSound && areAreasSound && currentFault === undefined && pinsFault === undefined
  const currentId = current.snapshotId ?? null
  const faults = { currentFault, pinsFault }
  print(
    JSON.stringify({ isWhole, currentId, ...faults, snapshots: states, audiences, areas }, null, 2),
  )
}

function isUnsound({ fault, isExpired }: Found['audiences'][number]): boolean {
  return fault !== undefined && !isExpired
}

/** What hurts recipients comes first. */
function assertWhole(
  dataDirectory: string,
  { states, currentFault, pinsFault, audiences, areas }: Found,
): void {
  const isDamaged = ({ isWhole, isNewer }: SnapshotState) => !isWhole && !isNewer
  const damaged = states.filter(isDamaged).map(({ snapshotId }) => snapshotId)
  if (currentFault !== undefined) damaged.push('CURRENT')
  const origins = states.filter(({ originFault }) => originFault !== undefined)
  const texts: string[] = []
  if (damaged.length > 0) {
    const advice = isClusterJournal(journalDirectory(dataDirectory))
      ? 'Start the service of this machine again: it fetches what is damaged from another machine of its cluster'
      : `\`hickory rollback --data ${dataDirectory}\` goes back to the newest intact snapshot before the current one`
    texts.push(`damaged: ${damaged.join(', ')}. ${advice}`)
  }
  if (origins.length > 0) {
    const ids = origins.map(({ snapshotId }) => snapshotId)
    texts.push(
      `${ORIGIN_FILE} is damaged in ${ids.join(', ')}, which no longer count as good. ` +
        `\`hickory accept --data ${dataDirectory} ID\` says that the counts of one are right`,
    )
  }
  if (pinsFault !== undefined) {
    texts.push(`${pinsFault}; until then imports remove no snapshot`)
  }
  const unsound = audiences.filter(isUnsound).map(({ id }) => id)
  if (unsound.length > 0) {
    texts.push(
      `audiences are damaged: ${unsound.join(', ')}. Whoever reads one is told so; delete it ` +
        '(DELETE /api/audiences/ID), and make it again',
    )
  }
  const badAreas = areas.flatMap(({ version, fault }) => (fault === undefined ? [] : [version]))
  if (badAreas.length > 0) {
    const advice = 'Import the layers again, or restore a backup'
    texts.push(`areas are damaged: ${badAreas.join(', ')}. ${advice}`)
  }
  if (texts.length > 0) throw new OperatorError('SnapshotCorrupt', texts.join('. '))
  const newer = states.find(({ isNewer }) => isNewer)
  if (newer !== undefined) throw new OperatorError('NewerFormat', firstFaultOf(newer))
}

function firstFaultOf({ files }: SnapshotState): string {
  return files.find(({ fault }) => fault !== undefined)?.fault ?? ''
}
