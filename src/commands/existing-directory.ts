/**
 * Data directories that commands change and do not make.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { OperatorError } from '../errors.js'

/** A mistyped directory would take what no service ever reads. */
export function assertThere(dataDirectory: string): void {
  if (existsSync(dataDirectory)) return
  throw new OperatorError(
    'Usage',
    `${dataDirectory} does not exist: name the data directory of the service with --data, or create ` +
      'it first if it is to be a new one',
  )
}
