/**
 * The files of a folder, and how many bytes they have.
 *
 * @module
 */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Paths below `folder` of all files, in the order of their bytes, which is the same everywhere. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

export async function bytesBelow(folder: string): Promise<number> {
  const files = await filesBelow(folder)
  const sizes = await Promise.all(files.map((path) => lstat(join(folder, path))))
  return sizes.reduce((sum, { size }) => sum + size, 0)
}
