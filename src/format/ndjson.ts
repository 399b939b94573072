/**
 * NDJSON: values of JSON, each on a line of its own. It has no end mark, so that only the end of the
 * body says that it is complete.
 *
 * @module
 */
import { type Body, writePiece } from './answer.js'

/** Puts a body of JSON, which has no line end in it, on a line. */
export function ndjsonLine(body: string): string
export function ndjsonLine(body: Body): Body
export function ndjsonLine(body: Body): Body {
  if (typeof body === 'string') return `${body}\n`
  if (body instanceof Uint8Array) return Buffer.concat([body, LINE_END])
  return async (sink) => {
    await body(sink)
    await writePiece(LINE_END, sink)
  }
}

const LINE_END = new TextEncoder().encode('\n')
