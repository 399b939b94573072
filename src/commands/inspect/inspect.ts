/**
 * `hickory inspect`: lists the snapshots, or shows one.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../../errors.js'
import type { CommandContext } from '../context.js'
import { chosenId, readSnapshotIds } from '../ids.js'
import { printDifference } from './against.js'
import { printOverview } from './all.js'
import { printSnapshot } from './one.js'

interface Flags {
  readonly data?: string
  readonly against?: string
  readonly json?: true
}

export function inspectCommand(context: CommandContext): Command {
  return new Command('inspect')
    .description('list the snapshots, or show one of them')
    .argument('[ID]', 'snapshot to show, or `current`; default: list all')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--against <OTHER>', 'show what changed from another snapshot to this one')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action(async (id: string | undefined, { data, against, json }: Flags) => {
      const dataDirectory = context.dataDirectory(data)
      if (against !== undefined && id === undefined) {
        throw new OperatorError(
          'Usage',
          '--against needs a snapshot to compare: name it, or `current`',
        )
      }
      const known = await readSnapshotIds(dataDirectory)
      if (against !== undefined && id !== undefined) {
        const both = { id: chosenId(known, id), otherId: chosenId(known, against) }
        await printDifference(context.log, dataDirectory, both, json === true)
      } else if (id === undefined) await printOverview(dataDirectory, known, json === true)
      else await printSnapshot(dataDirectory, known, chosenId(known, id), json === true)
    })
}

const HELP_TAIL = `
For one snapshot the command shows its sources, its files with the bounds of their recipients in degrees,
and a map, in which each character stands for the number of recipients in its cell. It does not verify
files; \`hickory verify\` does. A service or an import may run at the same time.

With --against it shows, by source, how many recipients came, left, stayed and moved since the other
snapshot, and a map of where the moved are now, but no numbers. A recipient is known by source and number
(snapshots do not keep the texts of contacts). One with another position has moved. It compares one
million recipients at a time, in up to 400 MB of memory, and reads the files of a source again for each
million.

Example:
  $ hickory inspect --data ./data/local
  $ hickory inspect --data ./data/local current
  $ hickory inspect --data ./data/local current --against 000002-2cc2fd0b
`
