/**
 * Which texts can be numbers of recipients: those that an import would take.
 *
 * @module
 */
import { limits } from '../limits.js'

export type NumberFault = 'NumberEmpty' | 'NumberTooLong' | 'NumberUnprintable' | 'NumberFormula'

/** The first thing that is wrong with a number, under the name that an import rejects it by. */
export function numberFault(number: string): NumberFault | undefined {
  if (/^[\s\p{Z}\ufeff]*$/u.test(number)) return 'NumberEmpty'
  if (Buffer.byteLength(number) > limits.numberBytes) return 'NumberTooLong'
  if (/[\p{Cc}\p{Cs}]/u.test(number)) return 'NumberUnprintable'
  return /^[=@]/.test(number) ? 'NumberFormula' : undefined
}
