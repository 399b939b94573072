/**
 * Entry point of a process that reads a whole store, and may be ended by what it finds.
 *
 * @module
 */
import { readerIds } from '../src/store/tables.js'
import {
  findDamage,
  findNewerFormat,
  NEWER_EXIT_CODE,
  SAME_ID_EXIT_CODE,
} from '../src/store/verify.js'

// As in src/cli.ts.
process.on('SIGUSR1', () => {})

// The id of the process that will open the store, unless it has.
const [directory, ownerId] = process.argv.slice(2)

/** What was found, and the exit code; undefined where all is well. */
async function check(): Promise<readonly [found: string, exitCode: number] | undefined> {
  const ids = await readerIds(directory).catch(() => new Set<number>())
  if (ownerId !== undefined && ids.has(Number(ownerId))) return [ownerId, SAME_ID_EXIT_CODE]
  const newerFormat = await findNewerFormat(directory)
  if (newerFormat !== undefined) return [newerFormat, NEWER_EXIT_CODE]
  const damage = await findDamage(directory)
  if (damage === undefined) return undefined
  return ids.has(process.pid) ? [String(process.pid), SAME_ID_EXIT_CODE] : [damage, 1]
}

const found = await check()
if (found !== undefined) {
  process.stdout.write(found[0])
  process.exitCode = found[1]
}
