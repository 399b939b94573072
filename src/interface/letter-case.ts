/**
 * Names that are read in any letter case.
 *
 * @module
 */
import { limits } from '../limits.js'

/** A name in lower case; one that is longer than any that is known is left as it is. */
export function lowerCase(name: string): string {
  return name.length > limits.memberNameCharCount ? name : name.toLowerCase()
}
