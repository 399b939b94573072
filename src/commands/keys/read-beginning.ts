/**
 * Files that a command is handed, read as far as they may be long.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'

/**
 * The first bytes of a file. A device has no end, and a pipe does not tell its length.
 *
 * @throws  what the system says
 */
export function readBeginning(path: string, maxBytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    for (;;) {
      const count = readSync(file, bytes, length, maxBytes - length, null)
      if (count === 0) return bytes.subarray(0, length)
      length += count
    }
  } finally {
    closeSync(file)
  }
}
