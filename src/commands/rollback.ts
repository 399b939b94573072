/**
 * `hickory rollback`: verifies an older snapshot and makes it the current one.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { writeCurrent } from '../snapshot/directory.js'
import { readImportId } from '../snapshot/identities/list.js'
import { type SnapshotState, verifySnapshot } from '../snapshot/load/verify.js'
import type { DataLock } from '../snapshot/publish/lock.js'
import { readLineage, readStates } from '../snapshot/retention/history.js'
import { assertServed, untilPublished } from './cluster/published.js'
import type { CommandContext } from './context.js'
import { chosenId, readSnapshotIds, type SnapshotIds } from './ids.js'
import { lockData } from './lock-data.js'
import { print, warn } from './output.js'
import { printSnapshotList } from './snapshot-list.js'

interface Flags {
  readonly data?: string
  readonly list?: true
  readonly good?: true
}

export function rollbackCommand(context: CommandContext): Command {
  return new Command('rollback')
    .description('make an older snapshot the current one')
    .argument('[ID]', 'snapshot to go to; default: the one before the current one')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--good', 'go to the newest snapshot for which no guard was overruled')
    .option('--list', 'list the snapshots with their counts, and change nothing')
    .addHelpText('after', HELP_TAIL)
    .action((id: string | undefined, flags: Flags) => runRollback(context, id, flags))
}

const HELP_TAIL = `
Without an ID the command goes to the newest snapshot that the current one was made from and that is of another
import: a service applies what is in the journal, so that there is no way back behind changes. --good passes
over those for which a guard of an import was overruled, or a source removed. The command first verifies
the snapshot, as \`hickory verify\` does. It skips a damaged snapshot, or refuses it if you gave its ID.
It removes no snapshot: to go forward again, give the ID of a newer one. The next import starts from the
current snapshot; the newer ones stay as long as an older one does. A service on the data directory follows
by itself. The command is refused while an import runs.

The list has the age of each snapshot, its recipients by source, and the difference to the current one. It
does not read all files; \`hickory verify --all\` does.

Example:
  $ hickory rollback --data ./data/local --list
  $ hickory rollback --data ./data/local
  $ hickory rollback --data ./data/local 000007-3f9a1c2b
`

async function runRollback(
  context: CommandContext,
  given: string | undefined,
  { data, list, good }: Flags,
): Promise<void> {
  if ([given, list, good].filter((choice) => choice !== undefined).length > 1) {
    throw new OperatorError('Usage', 'either an ID, --good or --list, not several')
  }
  const dataDirectory = context.dataDirectory(data)
  // Looked at first, so that a name that is mistyped does not become a directory.
  const known = await readSnapshotIds(dataDirectory)
  if (list === true) {
    await printSnapshotList(dataDirectory, known)
    return
  }
  await assertServed(dataDirectory)
  const target = await lockData(dataDirectory, async (lock) => {
    const known = await readSnapshotIds(dataDirectory)
    const ids = await findTargets(dataDirectory, known, given, good === true).catch(
      async (error) => {
        await printSnapshotList(dataDirectory, known)
        throw error
      },
    )
    return await goTo(lock, known, ids)
  })
  if (target !== undefined) await untilPublished(dataDirectory, target)
}

/** @returns where it went; undefined where that is current already */
async function goTo(
  lock: DataLock,
  { current }: SnapshotIds,
  ids: readonly string[],
): Promise<string | undefined> {
  const { dataDirectory } = lock
  const { snapshotId: currentId } = current
  const target = await firstWhole(dataDirectory, ids)
  if (target === currentId) {
    print(`${target} is current already, and whole: nothing was changed`)
    return undefined
  }
  lock.assertHeld()
  await writeCurrent(dataDirectory, target)
  const before = currentId === undefined ? current.fault : `before it was ${currentId}`
  print(`${target} is current now; ${before}`)
  return target
}

/** Where to go, the first choice first. */
async function findTargets(
  dataDirectory: string,
  known: SnapshotIds,
  given: string | undefined,
  isGood: boolean,
): Promise<string[]> {
  if (given !== undefined) return [chosenId(known, given)]
  const { ids, current } = known
  const { snapshotId } = current
  const lineage =
    snapshotId === undefined ? ids.toReversed() : await readLineage(dataDirectory, snapshotId, ids)
  if (isGood) return await findGood(dataDirectory, known, lineage)
  const older = await olderImports(dataDirectory, snapshotId, lineage)
  if (older.length > 0) return older
  throw new OperatorError(
    'Usage',
    `there is no snapshot before ${snapshotId} to go back to: import again, or restore a backup`,
  )
}

/**
 * Snapshots of earlier imports: those of the import of the current one say the same with the journal. Unless it is
 * damaged: then they come first.
 */
async function olderImports(
  dataDirectory: string,
  currentId: string | undefined,
  lineage: readonly string[],
): Promise<string[]> {
  const older = lineage.filter((id) => id !== currentId)
  if (currentId === undefined) return older
  const importId = await importOf(dataDirectory, currentId)
  const imports = await Promise.all(older.map((id) => importOf(dataDirectory, id)))
  const others = older.filter((_, at) => imports[at] !== importId)
  if (others.length === older.length) return others
  return (await verifySnapshot(dataDirectory, currentId)).isWhole ? others : older
}

async function importOf(dataDirectory: string, id: string): Promise<string> {
  return (await readImportId(dataDirectory, id)) ?? id
}

/** The current one may be good, too. Those that somebody rolled back from come last. */
async function findGood(
  dataDirectory: string,
  { ids }: SnapshotIds,
  lineage: readonly string[],
): Promise<string[]> {
  const states = await readStates(dataDirectory, ids)
  const others = ids.filter((id) => !lineage.includes(id)).reverse()
  const isGood = (id: string) => states.some((state) => state.id === id && state.isGood)
  const good = [...lineage, ...others].filter(isGood)
  if (good.length > 0) return good
  throw new OperatorError('Usage', 'for each snapshot a guard was overruled: give the ID of one')
}

async function firstWhole(dataDirectory: string, ids: readonly string[]): Promise<string> {
  const faults: string[] = []
  for (const id of ids) {
    const state = await verifySnapshot(dataDirectory, id)
    if (state.isWhole) {
      for (const fault of faults) warn(fault)
      return id
    }
    faults.push(`${id} is ${state.isNewer ? 'newer' : 'damaged'}: ${firstFault(state)}`)
  }
  throw new OperatorError('SnapshotCorrupt', `${faults.join('; ')}: nothing was changed`)
}

function firstFault({ files }: SnapshotState): string {
  const damaged = files.find(({ fault }) => fault !== undefined)
  return `${damaged?.file}: ${damaged?.fault}`
}
