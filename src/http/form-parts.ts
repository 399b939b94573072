/**
 * The parts of a form that has several (RFC 7578).
 *
 * @module
 */
import { MultipartParseError, parseMultipart } from '@remix-run/multipart-parser'
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
 */
export function formParts(body: Uint8Array, boundary: string): readonly FormPart[] {
  const parts: FormPart[] = []
  try {
    for (const part of parseMultipart(body, { boundary, ...BOUNDS })) {
      parts.push({ name: part.name, data: part.bytes })
    }
  } catch (error) {
    if (error instanceof MultipartParseError) return []
    throw error
  }
  return parts
}

/** The body is bounded, and so are its fields, which the caller counts. */
const BOUNDS = {
  maxFileSize: limits.bodyBytes,
  maxTotalSize: limits.bodyBytes,
  maxParts: limits.bodyBytes,
}
