/**
 * The parts of a form that has several (RFC 7578).
 *
 * @module
 */
import {
  MultipartParseError,
  type MultipartPart,
  parseMultipart,
} from '@remix-run/multipart-parser'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'

/** One field of the form. */
interface FormPart {
  /** Undefined where the part does not say. */
  readonly name: string | undefined
  readonly data: Uint8Array
}

/**
 * @param body  begins with the first delimiter
 * @returns the parts; none when they are not whole
 * @throws ServiceError  InvalidRequest, where a name is not UTF-8
 */
export function formParts(body: Uint8Array, boundary: string): readonly FormPart[] {
  const parts: FormPart[] = []
  try {
    for (const part of parseMultipart(body, { boundary, ...BOUNDS })) {
      parts.push({ name: nameOf(part), data: part.bytes })
    }
  } catch (error) {
    if (error instanceof MultipartParseError) return []
    throw error
  }
  return parts
}

/** The library decodes the headers of a part when it is asked for the name. */
function nameOf(part: MultipartPart): string | undefined {
  try {
    return part.name
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ServiceError('InvalidRequest', 'a part of the form has headers that are not UTF-8')
  }
}

/** The body is bounded, and so are its fields, which the caller counts. */
const BOUNDS = {
  maxFileSize: limits.bodyBytes,
  maxTotalSize: limits.bodyBytes,
  maxParts: limits.bodyBytes,
}
