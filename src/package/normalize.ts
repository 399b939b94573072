/**
 * Gives files the same modes and times, whatever umask and day they were written with.
 *
 * @module
 */
import { chmod, lutimes, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** @param executable  paths below `root`; nothing else is executable */
export async function normalize(
  root: string,
  executable: readonly string[],
  time: Date,
): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isExecutable = entry.isDirectory() || executable.includes(path.slice(root.length + 1))
    // A link has no mode of its own.
    if (!entry.isSymbolicLink()) await chmod(path, isExecutable ? 0o755 : 0o644)
    await lutimes(path, time, time)
  }
  await chmod(root, 0o755)
  await lutimes(root, time, time)
}
