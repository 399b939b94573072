/**
 * `hickory backup`: everything that a data directory needs to be served again, in one file.
 *
 * @module
 */

import { Command } from 'commander'
import { makeBackup } from '../backup/backup.js'
import { endClusterInCopy } from '../cluster/leave.js'
import { assertOwnId } from '../store/check.js'
import type { CommandContext } from './context.js'
import { print, warn } from './output.js'
import { formatBytes } from './quantities.js'
import { startSteps } from './steps.js'

interface Flags {
  readonly data?: string
  readonly force?: true
  readonly json?: true
}

export function backupCommand(context: CommandContext): Command {
  return new Command('backup')
    .description('write the current snapshot, the store and the settings to one file')
    .argument('<FILE>', 'file to write: FILE.tar, FILE.tar.gz or FILE.tar.zst')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--force', 'replace FILE if it is there')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP_TAIL)
    .action((path: string, flags: Flags) => backup(context, path, flags))
}

const HELP_TAIL = `
The backup has the current snapshot, the journal of changes that goes on from it, the configuration, the
contexts, the suppression lists, and the settings of the data directory (*.json, such as sources.json). Services and imports may run meanwhile.
FILE appears when it is complete and has been read back. Only its owner may read it.

Of a machine of a cluster it does not say which machine this is: whoever restores it has a directory of no
cluster.

To pack with zstd (.tar.zst) takes the program zstd.

Example:
  $ hickory backup --data ./data/local /backups/hickory-$(date +%F).tar.zst
  $ hickory restore /backups/hickory-2026-01-31.tar.zst --data ./data/restored
`

async function backup(context: CommandContext, path: string, flags: Flags): Promise<void> {
  const dataDirectory = context.dataDirectory(flags.data)
  await assertOwnId(dataDirectory)
  const steps = startSteps(context.log, { write: 'writing', verify: 'reading back' }, 'bytes')
  let made: Awaited<ReturnType<typeof makeBackup>>
  try {
    made = await makeBackup(dataDirectory, path, {
      mayReplace: flags.force === true,
      endClusterIn: (copy) => endClusterInCopy(dataDirectory, copy, context.log),
      onProgress: steps.update,
    })
  } finally {
    steps.stop()
  }
  const { snapshotId = null, lastSequence = null, hasStore } = made
  const { fileCount, byteLength, sha256 } = made
  if (flags.json === true) {
    const about = { file: path, snapshotId, hasStore, lastSequence }
    print(JSON.stringify({ ...about, fileCount, byteLength, sha256 }))
  } else {
    print(`backup     ${path}`)
    print(`snapshot   ${snapshotId ?? 'none'}`)
    if (lastSequence !== null) print(`changes    up to batch ${lastSequence}`)
    print(`files      ${fileCount}, ${formatBytes(byteLength)}, read back`)
    print(`SHA-256    ${sha256}`)
  }
  if (snapshotId === null) warn(`${dataDirectory} has no snapshot, so there is none in the backup`)
}
