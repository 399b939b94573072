/**
 * Writing all of what is given, which the system need not do at once.
 *
 * @module
 */
import { writeSync } from 'node:fs'

export function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  let count = 0
  while (count < bytes.length) {
    count += writeSync(fd, bytes, count, bytes.length - count, position + count)
  }
}
