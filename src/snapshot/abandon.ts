/**
 * What an import leaves that is told to stop, taken away at once: nothing that waits would be run.
 *
 * @module
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { snapshotsDirectory, TEMPORARY } from './directory.js'

/** To be called by who holds the lock: of nobody else are there temporary files then. */
export function removeTemporaryFiles(dataDirectory: string): void {
  for (const directory of [dataDirectory, snapshotsDirectory(dataDirectory)]) {
    for (const name of namesIn(directory)) {
      if (!name.endsWith(TEMPORARY)) continue
      // A thread may be writing there until the process ends.
      rmSync(join(directory, name), { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
