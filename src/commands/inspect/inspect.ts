/**
 * `hickory inspect`: lists the snapshots, or shows one.
 *
 * @module
 */
import { Command } from 'commander'
import type { CommandContext } from '../context.js'
import { chosenId, readSnapshotIds } from '../ids.js'
import { printOverview } from './all.js'
import { printSnapshot } from './one.js'

interface Flags {
  readonly data?: string
  readonly json?: true
}

export function inspectCommand(context: CommandContext): Command {
  return new Command('inspect')
    .description('list the snapshots, or show one of them')
    .argument('[ID]', 'snapshot to show, or `current`; default: list all')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action(async (id: string | undefined, { data, json }: Flags) => {
      const dataDirectory = context.dataDirectory(data)
      const known = await readSnapshotIds(dataDirectory)
      if (id === undefined) await printOverview(dataDirectory, known, json === true)
      else await printSnapshot(dataDirectory, known, chosenId(known, id), json === true)
    })
}

const HELP_TAIL = `
For one snapshot the command shows its sources, its files with the bounds of their recipients in degrees,
and a map, in which each character stands for the number of recipients in its cell. It does not verify
files; \`hickory verify\` does. A service or an import may run at the same time.

Example:
  $ hickory inspect --data ./data/local
  $ hickory inspect --data ./data/local current
`
