/**
 * Where a secret goes: alone to standard output, or into a file that only its owner may read.
 *
 * @module
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectorySync } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { whyUnwritten } from '../../system-refusals.js'
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
  const descriptor = openNew(begun, path)
  let isWritten = false
  return {
    write(secret) {
      writeSync(descriptor, `${secret}\n`)
      fsyncSync(descriptor)
      renameSync(begun, path)
      isWritten = true
      syncDirectorySync(dirname(path))
    },
    close() {
      closeSync(descriptor)
      if (!isWritten) unlinkSync(begun)
    },
  }
}

function openNew(begun: string, path: string): number {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw unusable(path, 'is a directory: name a file in it')
  }
  try {
    return openSync(begun, 'wx', 0o600)
  } catch (fault) {
    throw unusable(path, whyUnwritten(fault), fault)
  }
}

function unusable(path: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError('Usage', `--secret-file ${path} ${what}; no secret was made`, { cause })
}
