/**
 * `hickory rollback`: verifies an older snapshot and makes it the current one.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { generationOf, writeCurrent } from '../snapshot/directory.js'
import { type SnapshotState, verifySnapshot } from '../snapshot/load/verify.js'
import { withDataLock } from '../snapshot/publish/lock.js'
import type { CommandContext } from './context.js'
import { chosenId, readSnapshotIds, type SnapshotIds } from './ids.js'
import { print } from './output.js'

export function rollbackCommand(context: CommandContext): Command {
  return new Command('rollback')
    .description('make an older snapshot the current one')
    .argument('[ID]', 'snapshot to go to; default: the newest one before the current one')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .addHelpText('after', HELP_TAIL)
    .action((id: string | undefined, { data }: { data?: string }) =>
      rollback(context.dataDirectory(data), id),
    )
}

const HELP_TAIL = `
The command first verifies the snapshot, as \`hickory verify\` does. It skips a damaged snapshot, or
refuses it if you gave its ID. It removes no snapshot: to go forward again, give the ID of a newer one.
The next import starts from the current snapshot and removes newer ones. A service on the data directory
follows by itself. The command is refused while an import runs.

Example:
  $ hickory rollback --data ./data/local
  $ hickory rollback --data ./data/local 000007-3f9a1c2b
`

async function rollback(dataDirectory: string, given: string | undefined): Promise<void> {
  // Looked at first, so that a name that is mistyped does not become a directory.
  await readSnapshotIds(dataDirectory)
  await withDataLock(dataDirectory, async (lock) => {
    const known = await readSnapshotIds(dataDirectory)
    const { snapshotId: currentId } = known.current
    const target = await firstWhole(dataDirectory, targets(known, given))
    if (target === currentId) {
      print(`${target} is current already, and whole: nothing was changed`)
      return
    }
    lock.assertHeld()
    await writeCurrent(dataDirectory, target)
    const before = currentId === undefined ? known.current.fault : `before it was ${currentId}`
    print(`${target} is current now; ${before}`)
  })
}

function targets(known: SnapshotIds, given: string | undefined): string[] {
  const { ids, current } = known
  if (given !== undefined) return [chosenId(known, given)]
  const { snapshotId } = current
  const older =
    snapshotId === undefined ? ids : ids.filter((id) => generationOf(id) < generationOf(snapshotId))
  if (older.length > 0) return older.toReversed()
  throw new OperatorError('Usage', `there is no snapshot before ${snapshotId} to go back to`)
}

async function firstWhole(dataDirectory: string, ids: readonly string[]): Promise<string> {
  const faults: string[] = []
  for (const id of ids) {
    const state = await verifySnapshot(dataDirectory, id)
    if (state.isWhole) return id
    const fault = `${id} is damaged: ${firstFault(state)}`
    faults.push(fault)
    print(fault)
  }
  throw new OperatorError('SnapshotCorrupt', `${faults.join('; ')}: nothing was changed`)
}

function firstFault({ files }: SnapshotState): string {
  const damaged = files.find(({ fault }) => fault !== undefined)
  return `${damaged?.file}: ${damaged?.fault}`
}
