/**
 * What becomes of files on disks.
 *
 * @module
 */
import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import type { Random } from '../../support/random/world.js'

/** Anywhere in a file that is not empty. */
export function flipBit(path: string, random: Random): void {
  const file = openSync(path, 'r+')
  try {
    const at = random.between(0, statSync(path).size - 1)
    const byte = Buffer.alloc(1)
    readSync(file, byte, 0, 1, at)
    byte[0] ^= 1 << random.between(0, 7)
    writeSync(file, byte, 0, 1, at)
  } finally {
    closeSync(file)
  }
}
