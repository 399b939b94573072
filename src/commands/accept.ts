/**
 * `hickory accept`: says that the counts of a snapshot are right although guards were overruled for it.
 *
 * @module
 */
import { Command } from 'commander'
import { listSnapshots } from '../snapshot/directory.js'
import { readStates } from '../snapshot/retention/history.js'
import { readPins, writePins } from '../snapshot/retention/pins.js'
import type { CommandContext } from './context.js'
import { chosenId, readSnapshotIds } from './ids.js'
import { lockData } from './lock-data.js'
import { print } from './output.js'

export function acceptCommand(context: CommandContext): Command {
  return new Command('accept')
    .description('say that the counts of a snapshot are right although a guard was overruled')
    .argument('[ID]', 'snapshot that is right; default: the current one')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .addHelpText('after', HELP_TAIL)
    .action((id: string | undefined, { data }: { data?: string }) =>
      accept(context.dataDirectory(data), id ?? 'current'),
    )
}

const HELP_TAIL = `
After a flag has overruled a guard, or a source was removed, imports keep the last snapshot that passed.
When the new counts are right for good, this command lets them take its place: later imports are held
against them, and may remove the old one. It removes nothing itself.

Example:
  $ hickory accept --data ./data/local
`

async function accept(dataDirectory: string, given: string): Promise<void> {
  // Looked at first, so that a name that is mistyped does not become a directory.
  await readSnapshotIds(dataDirectory)
  await lockData(dataDirectory, async (lock) => {
    const id = chosenId(await readSnapshotIds(dataDirectory), given)
    const [state] = await readStates(dataDirectory, [id])
    if (state.isGood) {
      print(`${id} passed its guards or was accepted before: nothing was changed`)
      return
    }
    const all = await readPins(dataDirectory)
    const ids = await listSnapshots(dataDirectory)
    // Those of snapshots that are gone say nothing any more.
    const accepted = [...all.accepted.filter((other) => ids.includes(other)), id]
    await writePins(lock, { ...all, accepted })
    print(`${id} is accepted: its counts are what later imports are held against`)
  })
}
