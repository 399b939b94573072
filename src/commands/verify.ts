/**
 * `hickory verify`: tells file by file whether snapshots on disk are intact.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { type SnapshotState, verifySnapshot } from '../snapshot/load/verify.js'
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
    .option('--all', 'verify all snapshots, and CURRENT')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action((id: string | undefined, flags: Flags) => verify(context, id, flags))
}

const HELP_TAIL = `
The command verifies everything that a service verifies when it opens a snapshot. It also verifies the
SHA-256 of every file, and that the repeated numbers are those of the recipients. It changes nothing,
and a service or an import may run at the same time. The exit code is 0 if everything is intact, and 4
if anything is damaged.

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
  const known = await readSnapshotIds(dataDirectory)
  const ids = all === true ? known.ids : [chosenId(known, given ?? 'current')]
  const states: SnapshotState[] = []
  for (const id of ids) {
    const state = await verifySnapshot(dataDirectory, id)
    states.push(state)
    if (json !== true) printState(state, known)
  }
  const currentFault = all === true ? known.current.fault : undefined
  if (json === true) printJson(states, known, currentFault)
  else if (currentFault !== undefined) print(`CURRENT  damaged: ${currentFault}`)
  assertWhole(dataDirectory, states, currentFault)
}

function printState({ snapshotId, isWhole, files }: SnapshotState, { current }: SnapshotIds): void {
  const which = current.snapshotId === snapshotId ? ' (current)' : ''
  print(`${snapshotId}${which}  ${isWhole ? 'intact' : 'damaged'}`)
  const rows = files.map(({ file, byteLength, fault }) => [
    file,
    formatBytes(byteLength),
    fault === undefined ? 'intact' : `damaged: ${fault}`,
  ])
  for (const line of formatTable(['<file', 'size', '<state'], rows)) print(`  ${line}`)
}

function printJson(
  snapshots: readonly SnapshotState[],
  { current }: SnapshotIds,
  currentFault: string | undefined,
): void {
  const isWhole = snapshots.every((state) => state.isWhole) && currentFault === undefined
  const currentId = current.snapshotId ?? null
  print(JSON.stringify({ isWhole, currentId, currentFault, snapshots }, null, 2))
}

function assertWhole(
  dataDirectory: string,
  states: readonly SnapshotState[],
  currentFault: string | undefined,
): void {
  const damaged = states.filter(({ isWhole }) => !isWhole).map(({ snapshotId }) => snapshotId)
  if (currentFault !== undefined) damaged.push('CURRENT')
  if (damaged.length === 0) return
  throw new OperatorError(
    'SnapshotCorrupt',
    `damaged: ${damaged.join(', ')}. \`hickory rollback --data ${dataDirectory}\` goes back to ` +
      'the newest intact snapshot before the current one',
  )
}
