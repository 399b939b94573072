/**
 * Reads the files of a snapshot again before it is published: a disk may have taken what it does not
 * give back.
 *
 * @module
 */
import { join } from 'node:path'
import { OperatorError } from '../../errors.js'
import { type BuildThreads, digest } from './build-tasks.js'

/** A file and what it is to be. */
export interface VerifiedFile {
  readonly file: string
  /** In hexadecimal. */
  readonly sha256: string
}

/**
 * @param from  the directory to name in errors: where the files were before
 * @throws OperatorError `SnapshotCorrupt`, of the first file that has another SHA-256
 */
export async function verifyFiles(
  directory: string,
  files: readonly VerifiedFile[],
  threads: BuildThreads,
  from: string = directory,
): Promise<void> {
  await Promise.all(
    files.map(async ({ file, sha256 }) => {
      const found = await digest(threads, join(directory, file))
      if (found === sha256) return
      throw new OperatorError(
        'SnapshotCorrupt',
        `${join(from, file)}: found SHA-256 ${found}, expected ${sha256}`,
      )
    }),
  )
}
