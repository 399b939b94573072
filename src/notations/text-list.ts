/**
 * Members that are one text or an array of texts.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { limits } from '../limits.js'

export interface ListedText {
  readonly text: string
  /** Of the text itself, such as h3[3]. */
  readonly path: string
}

/**
 * @param code  of the fault if it is something else, or too many
 * @param what  they are, for its message: one and several
 */
export function textsOf(
  value: unknown,
  path: string,
  code: ServiceErrorCode,
  what: readonly [one: string, several: string],
): readonly ListedText[] {
  const [one, several] = what
  if (typeof value === 'string') return [{ text: short(value, path, code), path }]
  if (!Array.isArray(value)) {
    throw new ServiceError(code, `${path} must be ${one} in a text, or an array of them`, path)
  }
  if (value.length > limits.cellCount) {
    throw new ServiceError(code, `${path} has more than ${limits.cellCount} ${several}`, path)
  }
  return value.map((item: unknown, index): ListedText => {
    const itemPath = `${path}[${index}]`
    if (typeof item === 'string') return { text: short(item, itemPath, code), path: itemPath }
    throw new ServiceError(code, `${itemPath} must be ${one} in a text`, itemPath)
  })
}

/** Longer than any of them, and short enough for any pattern. */
const CHAR_COUNT_MAX = 64

function short(text: string, path: string, code: ServiceErrorCode): string {
  if (text.length <= CHAR_COUNT_MAX) return text
  throw new ServiceError(code, `${path} is longer than ${CHAR_COUNT_MAX} characters`, path)
}
