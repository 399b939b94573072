/**
 * `hickory restore`: a data directory from a backup.
 *
 * @module
 */
import { Command } from 'commander'
import { restoreBackup } from '../backup/restore.js'
import type { CommandContext } from './context.js'
import { print } from './output.js'
import { startSteps } from './steps.js'

interface Flags {
  readonly data?: string
  readonly json?: true
}

export function restoreCommand(context: CommandContext): Command {
  return new Command('restore')
    .description('make a data directory from a backup')
    .argument('<FILE>', 'what `hickory backup` wrote')
    .option('--data <DIR>', 'a directory that is missing or empty (HICKORY_DATA; ./data/local)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action((path: string, flags: Flags) => restore(context, path, flags))
}

const HELP_TAIL = `
The directory appears when all of the backup is read and verified. A backup that is cut off or damaged,
or that holds anything that no backup has, leaves nothing behind, and the exit code is 5.

Numbers that were put on a suppression list after the backup are not on it: send them again. Keys that were
revoked after it are live: revoke them again.

Example:
  $ hickory restore /backups/hickory-2026-01-31.tar.zst --data ./data/restored
  $ hickory serve --data ./data/restored
`

async function restore(context: CommandContext, path: string, flags: Flags): Promise<void> {
  const dataDirectory = context.dataDirectory(flags.data)
  const steps = startSteps(context.log, { read: 'reading' }, 'bytes')
  let listing: Awaited<ReturnType<typeof restoreBackup>>
  try {
    listing = await restoreBackup(path, dataDirectory, (done, total) =>
      steps.update('read', done, total),
    )
  } finally {
    steps.stop()
  }
  const { createdAt, snapshotId, files } = listing
  if (flags.json === true) {
    print(JSON.stringify({ dataDirectory, createdAt, snapshotId, fileCount: files.length }))
    return
  }
  print(`restored   ${dataDirectory}`)
  print(`snapshot   ${snapshotId ?? 'none'}`)
  print(`files      ${files.length}, verified`)
  print(`as of      ${createdAt}: suppressions and documents of later are not in it`)
}
