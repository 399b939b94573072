/**
 * The id of a source, as it is given on the command line.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'

/** @throws OperatorError  Usage */
export function parseSourceId(text: string): number {
  const id = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (id <= limits.sourceIdMax) return id
  throw new OperatorError(
    'Usage',
    `--source is an integer from 0 to ${limits.sourceIdMax}, not "${text}"`,
  )
}
