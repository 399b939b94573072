/**
 * NDJSON: values of JSON, each on a line of its own. It has no end mark, so that only the end of the
 * body says that it is complete.
 *
 * @module
 */
import type { Body } from './answer.js'
import { enclosed } from './enclosed.js'

/** Puts a body of JSON, which has no line end in it, on a line. */
export function ndjsonLine(body: string): string
export function ndjsonLine(body: Body): Body
export function ndjsonLine(body: Body): Body {
  return enclosed('', body, '\n')
}
