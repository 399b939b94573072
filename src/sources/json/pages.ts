/**
 * Collections that a server handed over page by page: the last one is that which names no further one, or has nothing.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'

/** A file of an import. */
export interface Page {
  readonly name: string
  /** Undefined for what is not a FeatureCollection. */
  readonly isLast: boolean | undefined
}

/** @throws OperatorError  `InputRejected` if there are pages without a last one */
export function assertLastPage(pages: readonly Page[]): void {
  const cutOff = pages.find(({ isLast }) => isLast === false)
  if (cutOff === undefined || pages.some(({ isLast }) => isLast === true)) return
  throw new OperatorError(
    'InputRejected',
    `${cutOff.name} says that its server has further features ("exceededTransferLimit", or a link to the next page): ` +
      'get them, too, and import the files of all pages together; where the file has all, take that out of it',
  )
}
