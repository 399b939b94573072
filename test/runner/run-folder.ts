/**
 * Where the files of a run of the tests are.
 *
 * @module
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The folder of what files make once for all of a run, which goes away with it. */
export const RUN_FOLDER_VARIABLE = 'HICKORY_TEST_RUN_FOLDER'

/** Memory that an ended run holds is given back by the next one. */
export function newRunFolder(): string {
  const directory = quickDirectory()
  for (const name of readdirSync(directory)) {
    const [, letters] = /^hickory-run-([a-j]+)-/.exec(name) ?? []
    if (letters === undefined || existsSync(`/proc/${pidOf(letters)}`)) continue
    try {
      rmSync(join(directory, name), { recursive: true, force: true })
    } catch {
      // Of another user.
    }
  }
  const folder = mkdtempSync(join(directory, `hickory-run-${lettersOf(process.pid)}-`))
  // Commands that are run as another user have their files in it, too.
  chmodSync(folder, 0o755)
  return folder
}

/** Messages name files of the run, and tests look for 999, with which phones begin, in messages. */
function lettersOf(pid: number): string {
  return String(pid).replace(/\d/g, (digit) => DIGITS[Number(digit)])
}

function pidOf(letters: string): number {
  return Number(letters.replace(/\w/g, (letter) => String(DIGITS.indexOf(letter))))
}

const DIGITS = 'abcdefghij'

/**
 * In memory where there is room. A file made and removed, or synced, takes a twentieth of the time there, and what a
 * killed process leaves does not depend on the disk.
 */
export function quickDirectory(): string {
  if (!existsSync(MEMORY_DIRECTORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY_DIRECTORY)
  return bavail * bsize < MEMORY_BYTES_MIN ? tmpdir() : MEMORY_DIRECTORY
}

const MEMORY_DIRECTORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 2 ** 30
