/**
 * `hickory pin` and `hickory unpin`: snapshots that no import removes.
 *
 * @module
 */
import { Command } from 'commander'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { DataLock } from '../snapshot/publish/lock.js'
import { readPins, writePins } from '../snapshot/retention/pins.js'
import type { CommandContext } from './context.js'
import { chosenId, readSnapshotIds } from './ids.js'
import { lockData } from './lock-data.js'
import { print } from './output.js'

interface Flags {
  readonly data?: string
  readonly note?: string
}

export function pinCommand(context: CommandContext): Command {
  return new Command('pin')
    .description('keep a snapshot until it is unpinned')
    .argument('<ID>', 'snapshot to keep, or `current`')
    .option('--note <TEXT>', 'why; shown in lists')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .addHelpText('after', HELP_TAIL)
    .action((id: string, { data, note }: Flags) => {
      checkNote(note)
      return underLock(context.dataDirectory(data), (lock) => pin(lock, id, note))
    })
}

export function unpinCommand(context: CommandContext): Command {
  return new Command('unpin')
    .description('let imports remove a snapshot that was pinned')
    .argument('<ID>', 'snapshot that was pinned, or `current`')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .action((id: string, { data }: Flags) =>
      underLock(context.dataDirectory(data), (lock) => unpin(lock, id)),
    )
}

const HELP_TAIL = `
A pinned snapshot does not count against --keep of an import. To pin it again replaces its note. The
command is refused while an import runs.

Example:
  $ hickory pin --data ./data/local 000007-3f9a1c2b --note 'before the merger of the districts'
`

async function pin(lock: DataLock, given: string, note: string | undefined): Promise<void> {
  const { dataDirectory } = lock
  const id = chosenId(await readSnapshotIds(dataDirectory), given)
  const all = await readPins(dataDirectory)
  const others = all.pins.filter((pin) => pin.id !== id)
  if (others.length >= limits.pinCount) {
    throw new OperatorError('Usage', `at most ${limits.pinCount} snapshots can be pinned`)
  }
  const pinnedAt = new Date().toISOString()
  const added = { id, pinnedAt, ...(note === undefined ? {} : { note }) }
  await writePins(lock, { ...all, pins: [...others, added] })
  print(`${id} is pinned`)
}

async function unpin(lock: DataLock, given: string): Promise<void> {
  const { dataDirectory } = lock
  const all = await readPins(dataDirectory)
  // What is pinned may have been lost from the disk.
  const isPinned = (id: string) => all.pins.some((pin) => pin.id === id)
  const id = isPinned(given) ? given : chosenId(await readSnapshotIds(dataDirectory), given)
  if (!isPinned(id)) {
    const pinned = all.pins.map((pin) => pin.id).join(', ')
    throw new OperatorError('Usage', `${id} is not pinned; pinned are ${pinned || 'none'}`)
  }
  await writePins(lock, { ...all, pins: all.pins.filter((pin) => pin.id !== id) })
  print(`${id} is not pinned any more`)
}

async function underLock(dataDirectory: string, work: (lock: DataLock) => Promise<void>) {
  // Looked at first, so that a name that is mistyped does not become a directory.
  await readSnapshotIds(dataDirectory)
  await lockData(dataDirectory, work)
}

function checkNote(note: string | undefined): void {
  if (note === undefined) return
  if (/\p{Cc}|\p{Bidi_Control}/u.test(note) || note.trim() === '') {
    throw new OperatorError('Usage', '--note needs a text without control characters')
  }
  if (Buffer.byteLength(note) > limits.pinNoteBytes) {
    throw new OperatorError('Usage', `--note has at most ${limits.pinNoteBytes} bytes of UTF-8`)
  }
}
