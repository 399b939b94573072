/**
 * `hickory remove`: publishes a snapshot without one of the sources.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { listSources } from '../snapshot/load/open.js'
import { beginSnapshot } from '../snapshot/publish/begin.js'
import type { SnapshotSource } from '../snapshot/snapshot.js'
import { assertServed, untilPublished } from './cluster/published.js'
import type { CommandContext } from './context.js'
import { parseSourceId, readSnapshotIds } from './ids.js'
import { endOnSignal } from './import/end-on-signal.js'
import { readKeepCount } from './keep.js'
import { lockData } from './lock-data.js'
import { print } from './output.js'

interface Flags {
  readonly data?: string
  readonly source: string
  readonly keep?: string
}

export function removeCommand(context: CommandContext): Command {
  return new Command('remove')
    .description('publish a snapshot without one of the sources')
    .requiredOption('--source <ID>', `source to remove, 0 to ${limits.sourceIdMax}`)
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option(
      '--keep <N>',
      `snapshots that stay, the new one among them (${limits.snapshotCount}; ${limits.snapshotCountMin} at least)`,
    )
    .addHelpText('after', HELP_TAIL)
    .action((flags: Flags) => remove(context, flags))
}

const HELP_TAIL = `
The command asks nothing. \`hickory rollback\` brings the source back: the newest snapshot in which all
sources passed their guards stays until the source is imported again or \`hickory accept\` says that it is
meant to be gone. The only source of a snapshot cannot be removed. Suppression lists stay as they are.

Example:
  $ hickory remove --data ./data/local --source 2
`

async function remove(context: CommandContext, flags: Flags): Promise<void> {
  const { log } = context
  const id = parseSourceId(flags.source)
  const dataDirectory = context.dataDirectory(flags.data)
  const keepCount = readKeepCount(log, dataDirectory, flags.keep)
  // Looked at first, so that a name that is mistyped does not become a directory.
  await readSnapshotIds(dataDirectory)
  await assertServed(dataDirectory)
  const signals = endOnSignal()
  let snapshotId: string
  try {
    snapshotId = await lockData(dataDirectory, async (lock) => {
      const source = findRemovable(await listSources(dataDirectory), id)
      const options = { log, keepCount, endsOnSignal: false, onCommit: signals.hold }
      const draft = await beginSnapshot(lock, options)
      try {
        draft.remove(id)
        const { snapshotId } = await draft.publish()
        print(`removed    ${id} ${source.label}, ${source.recipientCount} recipients`)
        print(`snapshot   ${snapshotId}`)
        return snapshotId
      } finally {
        await draft.discard()
      }
    })
  } finally {
    signals.forget()
  }
  await untilPublished(dataDirectory, snapshotId)
}

function findRemovable(sources: readonly SnapshotSource[], id: number): SnapshotSource {
  const source = sources.find((source) => source.id === id)
  if (source === undefined) {
    const ids = sources.map(({ id }) => id).join(', ')
    throw new OperatorError('Usage', `there is no source ${id}; there are ${ids || 'none'}`)
  }
  if (sources.length > 1) return source
  throw new OperatorError(
    'Usage',
    `source ${id} is the only one, and a service needs one: empty it with ` +
      `\`hickory import --source ${id} --allow-empty\` and a file that has only a header`,
  )
}
