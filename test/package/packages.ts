/**
 * Packages for tests, made by the command that makes those of a release.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finished } from '../support/service/hickory.js'

const RUN = fileURLToPath(new URL('../../src/package/run.js', import.meta.url))

/** Tests download Node.js once on a machine. */
export const DOWNLOADS = join(tmpdir(), 'hickory-downloads')

/** Runs the command with these flags to its end. */
export function makePackages(...flags: readonly string[]): Promise<Finished> {
  const args = [RUN, '--downloads', DOWNLOADS, ...flags]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
  })
}
