/**
 * What goes into a backup of a data directory, of one moment, while services and imports go on.
 *
 * @module
 */
import { type FileHandle, open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import type { holdJournal } from '../journal/hold.js'
import { limits } from '../limits.js'
import { readCurrent, snapshotsDirectory } from '../snapshot/directory.js'
import { filesOf, MANIFEST_FILE, readManifest } from '../snapshot/format/manifest.js'
import { readIdentities } from '../snapshot/identities/list.js'
import { corrupt, isCorrupt } from '../snapshot/open-file.js'
import { CURRENT_FILE, SETTINGS_FILE } from './listing.js'
import type { Part } from './write-archive.js'

/** The current snapshot, its files open, so that an import that removes it takes nothing away. */
interface OpenSnapshot {
  readonly id: string
  readonly parts: readonly Part[]
  close(): Promise<void>
}

const ATTEMPT_COUNT = 5
const PIECE_BYTES = 1 << 20

/**
 * @returns undefined where there is none
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function openCurrent(dataDirectory: string): Promise<OpenSnapshot | undefined> {
  for (let attempt = 1; ; attempt++) {
    const id = await readCurrent(dataDirectory)
    if (id === undefined) return undefined
    try {
      return await openSnapshotFiles(dataDirectory, id)
    } catch (fault) {
      // It may have been replaced and removed between the look at CURRENT and now.
      const isReplaced = isCorrupt(fault) && (await readCurrent(dataDirectory)) !== id
      if (!isReplaced || attempt === ATTEMPT_COUNT) throw fault
    }
  }
}

async function openSnapshotFiles(dataDirectory: string, id: string): Promise<OpenSnapshot> {
  const directory = join(snapshotsDirectory(dataDirectory), id)
  const handles: FileHandle[] = []
  const close = async () => {
    await Promise.all(handles.map((handle) => handle.close()))
  }
  try {
    const manifest = await readManifest(dataDirectory, id)
    const partOf = async (name: string, expected?: { byteLength: number; sha256: string }) => {
      const path = join(directory, name)
      const handle = await open(path, 'r').catch((fault: NodeJS.ErrnoException) => {
        throw fault.code === 'ENOENT' ? corrupt(path, 'is not there', fault) : fault
      })
      handles.push(handle)
      const { size } = await handle.stat()
      if (expected !== undefined && size !== expected.byteLength) {
        throw corrupt(path, `found ${size} bytes, expected ${expected.byteLength}`)
      }
      return filePart(`snapshots/${id}/${name}`, handle, size, expected?.sha256)
    }
    const current = Buffer.from(`${id}\n`)
    const parts = [bytesPart(CURRENT_FILE, current), await partOf(MANIFEST_FILE)]
    // What is known of the snapshot beside its manifest.
    const documents = (await readdir(directory)).filter((name) => SETTINGS_FILE.test(name)).sort()
    for (const name of documents) if (name !== MANIFEST_FILE) parts.push(await partOf(name))
    const identities = (await readIdentities(dataDirectory, id)).flatMap(({ files }) => files)
    for (const file of [...filesOf(manifest), ...identities]) {
      parts.push(await partOf(file.file, file))
    }
    return { id, parts, close }
  } catch (fault) {
    await close()
    throw fault
  }
}

/** The settings at the top of the data directory. They are small, and are read at once. */
export async function readSettings(dataDirectory: string): Promise<Part[]> {
  const names = (await readdir(dataDirectory)).filter((name) => SETTINGS_FILE.test(name)).sort()
  const parts: Part[] = []
  for (const name of names) {
    const path = join(dataDirectory, name)
    const status = await stat(path)
    // A directory or a pipe is no setting.
    if (!status.isFile()) continue
    const { size } = status
    if (size > limits.documentBytes) {
      throw new OperatorError('Failed', `${path} is larger than ${limits.documentBytes} bytes`)
    }
    parts.push(bytesPart(name, await readFile(path)))
  }
  return parts
}

export async function openPart(name: string, path: string): Promise<Part & { close(): void }> {
  const handle = await open(path, 'r')
  const { size } = await handle.stat()
  return { ...filePart(name, handle, size), close: () => handle.close() }
}

/**
 * The files of a held journal, up to the last batch of now.
 *
 * @throws OperatorError `JournalDamaged`
 */
export async function journalParts(
  held: NonNullable<Awaited<ReturnType<typeof holdJournal>>>,
): Promise<{ readonly lastSequence: number; readonly parts: readonly Part[] }> {
  const { lastSequence, files } = await held.upToNow()
  const parts = files.map((file) => {
    const name = `journal/${file.name}`
    return 'bytes' in file
      ? bytesPart(name, file.bytes)
      : filePart(name, file.handle, file.byteLength)
  })
  return { lastSequence, parts }
}

export function bytesPart(name: string, bytes: Buffer): Part {
  return { name, byteLength: bytes.length, read: () => [bytes] }
}

export function filePart(name: string, handle: FileHandle, size: number, sha256?: string): Part {
  return {
    name,
    byteLength: size,
    ...(sha256 !== undefined && { sha256 }),
    async *read() {
      for (let at = 0; at < size; ) {
        // The archive keeps the piece until it is written.
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at))
        const { bytesRead } = await handle.read(piece, 0, piece.length, at)
        if (bytesRead === 0) throw new Error(`${name} became shorter while it was read`)
        at += bytesRead
        yield piece.subarray(0, bytesRead)
      }
    },
  }
}
