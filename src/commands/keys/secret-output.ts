/**
 * Where a secret goes: alone to standard output, or into a file that only its owner may read.
 *
 * @module
 */
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { print } from '../output.js'

interface SecretOutput {
  write(secret: string): void
  /** Removes what was begun and not written. */
  close(): void
}

/** @param path  is replaced when the secret is written; undefined is standard output */
export function secretOutput(path: string | undefined): SecretOutput {
  if (path === undefined) return { write: print, close() {} }
  // Beside it, so that the rename is one, and new, so that nobody has it open or may read it.
  const begun = `${path}.${process.pid}.new`
  const descriptor = openSync(begun, 'wx', 0o600)
  let isWritten = false
  return {
    write(secret) {
      writeSync(descriptor, `${secret}\n`)
      fsyncSync(descriptor)
      renameSync(begun, path)
      isWritten = true
    },
    close() {
      closeSync(descriptor)
      if (!isWritten) unlinkSync(begun)
    },
  }
}
