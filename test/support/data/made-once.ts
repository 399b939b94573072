/**
 * Data directories that several test files begin with, made once for a run of the tests.
 *
 * @module
 */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createLineLog } from '../../../src/log.js'
import { RUN_FOLDER_VARIABLE } from '../../runner/run-folder.js'

/**
 * Fills an empty directory with what `make` makes in one, or with a copy of what it made before in this run.
 *
 * @param name  other data has another name
 */
export async function madeOnce(
  name: string,
  directory: string,
  make: (directory: string) => Promise<void>,
): Promise<void> {
  const folder = process.env[RUN_FOLDER_VARIABLE]
  // What is no test file has no run.
  if (folder === undefined) return make(directory)
  const made = join(folder, `made-${name}`)
  if (statSync(made, { throwIfNoEntry: false }) === undefined) {
    const making = mkdtempSync(`${made}-`)
    await make(making)
    try {
      renameSync(making, made)
    } catch (error) {
      // Another file was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
      rmSync(making, { recursive: true })
    }
  }
  mkdirSync(directory, { recursive: true })
  cpSync(made, directory, { recursive: true })
}

/** What `serve --sample` makes. */
export function copySample(data: string): Promise<void> {
  return madeOnce('sample', data, async (directory) => {
    const { makeSample } = await import('../../../src/commands/sample.js')
    await makeSample(
      directory,
      createLineLog(() => {}),
      () => {},
    )
  })
}
