/**
 * Entry point of a process that reads a whole store, and may be ended by what it finds.
 *
 * @module
 */
import { findDamage } from '../src/store/verify.js'

const damage = await findDamage(process.argv[2])
if (damage !== undefined) {
  process.stdout.write(damage)
  process.exitCode = 1
}
