/**
 * Entry point of a process that reads a whole store, and may be ended by what it finds.
 *
 * @module
 */
import { findDamage, findNewerFormat, NEWER_EXIT_CODE } from '../src/store/verify.js'

// As in src/cli.ts.
process.on('SIGUSR1', () => {})

const directory = process.argv[2]
const newerFormat = await findNewerFormat(directory)
const damage = newerFormat === undefined ? await findDamage(directory) : undefined
if (newerFormat !== undefined) {
  process.stdout.write(newerFormat)
  process.exitCode = NEWER_EXIT_CODE
} else if (damage !== undefined) {
  process.stdout.write(damage)
  process.exitCode = 1
}
