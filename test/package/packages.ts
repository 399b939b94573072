/**
 * Packages for tests, made by the command that makes those of a release.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lock } from 'proper-lockfile'
import { RUN_FOLDER_VARIABLE } from '../runner/run-folder.js'
import { type Finished, type Owner, temporaryDirectory } from '../support/service/hickory.js'

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

/** Where the tarball and the Debian package for x64 are, which one call made for all files of a run. */
export async function packagesForX64(t: Owner): Promise<{ out: string; made: Finished }> {
  const folder = process.env[RUN_FOLDER_VARIABLE] ?? temporaryDirectory(t)
  const out = join(folder, 'packages')
  const told = join(folder, 'packages.json')
  const release = await lock(folder, { retries: { retries: 300, factor: 1, minTimeout: 1_000 } })
  try {
    if (!existsSync(told)) {
      const made = await makePackages('--arch', 'x64', '--only', 'tarball,deb', '--out', out)
      writeFileSync(`${told}.part`, JSON.stringify(made))
      renameSync(`${told}.part`, told)
    }
  } finally {
    await release()
  }
  return { out, made: JSON.parse(readFileSync(told, 'utf8')) as Finished }
}
