/**
 * Collections that a server handed over page by page: the last one is that which names no further one.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'

/**
 * @param pageNames  of each file what it is called if it says that there are further features, else undefined
 * @throws OperatorError  `InputRejected` if all files say so, for then the last one is missing
 */
export function assertLastPage(pageNames: readonly (string | undefined)[]): void {
  const names = pageNames.filter((name) => name !== undefined)
  if (names.length === 0 || names.length < pageNames.length) return
  throw new OperatorError(
    'InputRejected',
    `${names[names.length - 1]} says that its server has further features ("exceededTransferLimit", or a link to ` +
      'the next page): get them, too, and import the files of all pages together',
  )
}
