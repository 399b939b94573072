/**
 * What becomes of files on disks.
 *
 * @module
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Random } from '../../support/random/world.js'

/** Anywhere in a file that is not empty; of a byte that is not zero where there is one, since most zeros mean nothing. */
export function flipBit(path: string, random: Random): void {
  const bytes = readFileSync(path)
  let at = random.between(0, bytes.length - 1)
  for (let attempt = 0; bytes[at] === 0 && attempt < 100_000; attempt++) {
    at = random.between(0, bytes.length - 1)
  }
  const file = openSync(path, 'r+')
  try {
    writeSync(file, Uint8Array.of(bytes[at] ^ (1 << random.between(0, 7))), 0, 1, at)
  } finally {
    closeSync(file)
  }
}
