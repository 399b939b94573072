/**
 * Writes an archive: some files, and the listing of all of them at the end.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTarPacker, type TarEntry } from 'modern-tar'
import { FILE_MODE, writeAll } from '../durable-files.js'
import { type Compression, compressor } from './compression.js'
import { type ArchivedFile, encodeListing, LISTING_FILE } from './listing.js'

/** A file that is to be archived. */
export interface Part {
  readonly name: string
  readonly byteLength: number
  /** Exactly so many bytes. */
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /** What it must have, if that is known. */
  readonly sha256?: string
}

/**
 * Writes a new file and returns when it is on disk.
 *
 * @param onBytes  called with the bytes of the parts that are archived
 * @returns what is in the archive
 */
export async function writeArchive(
  path: string,
  compression: Compression,
  parts: readonly Part[],
  { createdAt, snapshotId }: { createdAt: Date; snapshotId: string | undefined },
  onBytes: (byteCount: number) => void,
): Promise<ArchivedFile[]> {
  const file = await open(path, 'wx', FILE_MODE)
  try {
    const { readable, controller } = createTarPacker()
    const steps = [Readable.fromWeb(readable as never), ...compressor(compression)]
    const written = pipeline([...steps, toFile(file)])
    written.catch((fault) => controller.error(fault))
    const add = async (part: Part) => {
      const { name, byteLength: size } = part
      const header: TarEntry['header'] = { name, size, type: 'file', mode: FILE_MODE }
      const writer = controller.add({ ...header, mtime: createdAt }).getWriter()
      const hash = createHash('sha256')
      for await (const piece of part.read()) {
        hash.update(piece)
        await writer.write(piece)
        if (name !== LISTING_FILE) onBytes(piece.length)
      }
      await writer.close()
      return { name, byteLength: size, sha256: hash.digest('hex') }
    }
    const files: ArchivedFile[] = []
    try {
      for (const part of parts) files.push(await add(part))
      const listing = encodeListing(createdAt.toISOString(), snapshotId, files)
      await add({ name: LISTING_FILE, byteLength: listing.length, read: () => [listing] })
      controller.finalize()
    } catch (fault) {
      controller.error(fault)
      // Where the disk or the compressor has failed, that is the reason.
      await written
      throw fault
    }
    await written
    await file.sync()
    return files
  } finally {
    await file.close()
  }
}

/** The file stays open, since it is yet to be synced. */
function toFile(file: FileHandle): Writable {
  return new Writable({
    highWaterMark: 4 << 20,
    write(piece: Uint8Array, _encoding, done) {
      writeAll(file, piece).then(() => done(), done)
    },
  })
}
