/**
 * A journal that is held for a copy, while others write to it and remove what snapshots have.
 *
 * The order matters. First the head in LMDB is copied and the files are opened, so that nothing that is there
 * can go; then whoever copies opens the snapshot; then `upToNow` looks where the journal ends. So the copy begins no
 * later than what the snapshot has, and ends no earlier.
 *
 * @module
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileNumber } from '../chain/link.js'
import { OperatorError } from '../errors.js'
import { headDirectory, journalFileName, journalFileNumbers, journalPath } from './files.js'
import { type JournalHead, NO_HEAD, openHead } from './head.js'
import { positionBytes } from './position.js'
import { JournalReader } from './reader.js'

/** A file of a copy; its name is that below the journal. */
type HeldFile = { readonly name: string } & (
  | { readonly handle: FileHandle; readonly byteLength: number }
  | { readonly bytes: Buffer }
)

interface HeldJournal {
  /**
   * All files of a copy that ends with the last batch of now.
   *
   * @throws JournalDamaged
   */
  upToNow(): Promise<{ readonly lastSequence: number; readonly files: readonly HeldFile[] }>
  close(): Promise<void>
}

/**
 * @param workplace  an empty directory, for the copy of the head
 * @returns undefined where there is no journal
 * @throws JournalDamaged
 */
export async function holdJournal(
  directory: string,
  workplace: string,
): Promise<HeldJournal | undefined> {
  if (!hasJournal(directory)) return undefined
  for (let attempt = 1; ; attempt++) {
    const copied = await copyHead(directory, workplace)
    if (copied.log !== undefined) await endLog(workplace)
    const files = new Map<FileNumber, FileHandle>()
    const from = copied.first.file
    for (let number = from; await openInto(files, directory, number); number++);
    // Unless it was removed since the head was copied.
    if (files.has(from) || copied.file === 0) return held(directory, workplace, copied, files)
    if (attempt === ATTEMPT_COUNT) throw movedOn(directory)
  }
}

const ATTEMPT_COUNT = 5

function hasJournal(directory: string): boolean {
  if (!existsSync(directory)) return false
  return (
    existsSync(join(headDirectory(directory), HEAD_FILE)) ||
    journalFileNumbers(directory).length > 0
  )
}

/**
 * Copies the head in LMDB, with the ids of batches.
 *
 * @returns the head as it is in the copy
 * @throws JournalDamaged
 */
export async function copyHead(directory: string, workplace: string): Promise<JournalHead> {
  const target = headDirectory(workplace)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true, mode: 0o700 })
  const store = openHead(directory, 'read')
  await store.copyTo(target).finally(() => store.close())
  const copy = openHead(workplace, 'read')
  try {
    return copy.read() ?? NO_HEAD
  } finally {
    await copy.close()
  }
}

/** A copy of the journal of a machine of a cluster is of none. */
async function endLog(workplace: string): Promise<void> {
  const store = openHead(workplace, 'write')
  try {
    store.transact(({ head = NO_HEAD, move }) => move({ ...head, log: undefined }))
  } finally {
    await store.close()
  }
}

function held(
  directory: string,
  workplace: string,
  copied: JournalHead,
  files: Map<FileNumber, FileHandle>,
): HeldJournal {
  const handles: FileHandle[] = []
  return {
    async upToNow() {
      const now = headOf(directory)
      // After a power failure the position may be the older one.
      const { first: _, log: _1, ...end } = now.sequence < copied.sequence ? copied : now
      const head: JournalHead = { ...end, first: copied.first }
      const parts: HeldFile[] = []
      for (let number = head.first.file; number <= head.file; number++) {
        if (!files.has(number) && !(await openInto(files, directory, number))) {
          throw movedOn(directory)
        }
        const handle = files.get(number) as FileHandle
        const byteLength = number === head.file ? head.bytes : (await handle.stat()).size
        parts.push({ name: journalFileName(number), handle, byteLength })
      }
      const handle = await open(join(headDirectory(workplace), HEAD_FILE), 'r')
      handles.push(handle)
      const { size } = await handle.stat()
      parts.push({ name: `head/${HEAD_FILE}`, handle, byteLength: size })
      parts.push({ name: 'position', bytes: positionBytes(head) })
      return { lastSequence: head.sequence, files: parts }
    },
    async close() {
      await Promise.all([...files.values(), ...handles].map((handle) => handle.close()))
    },
  }
}

const HEAD_FILE = 'data.mdb'

function headOf(directory: string): JournalHead {
  const reader = new JournalReader(directory)
  try {
    return reader.head()
  } finally {
    reader.close()
  }
}

async function openInto(
  files: Map<FileNumber, FileHandle>,
  directory: string,
  number: FileNumber,
): Promise<boolean> {
  try {
    files.set(number, await open(journalPath(directory, number), 'r'))
    return true
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw fault
  }
}

function movedOn(directory: string): OperatorError {
  return new OperatorError(
    'Failed',
    `files of the journal ${directory} were removed while they were copied: run the command once more`,
  )
}
