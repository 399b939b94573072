/**
 * Data directories that commands change and do not make.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { OperatorError } from '../errors.js'

/** Without this, a message would name something below the file, which the caller has not written. */
export function assertNoFile(dataDirectory: string): string {
  if (!existsSync(dataDirectory) || !statSync(dataDirectory).isFile()) return dataDirectory
  throw new OperatorError('Usage', `${dataDirectory} is a file: --data names a directory`)
}

/** A mistyped directory would take what no service ever reads. */
export function assertThere(dataDirectory: string): void {
  if (existsSync(dataDirectory)) return
  throw new OperatorError(
    'Usage',
    `${dataDirectory} does not exist: name the data directory of the service with --data, or create ` +
      'it first if it is to be a new one',
  )
}
