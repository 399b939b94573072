/**
 * Writes what an operation answers, in the form that the client wants.
 *
 * @module
 */
import { type Answer, type Body, writeBody } from '../format/answer.js'
import { CONTENT_TYPES } from '../format/error-body.js'
import { JSONP_CONTENT_TYPE, jsonp } from '../format/jsonp.js'
import { ndjsonLine } from '../format/ndjson.js'
import { limits } from '../limits.js'
import type { Reply, ReplyHeaders, Sink } from '../selection/reply.js'
import { compressedSink, encodingOf } from './compression.js'
import type { HttpRequest } from './request.js'
import type { Wishes } from './wishes.js'

/** @param name  what CSV is saved as, without a suffix */
export async function respond(
  request: HttpRequest,
  reply: Reply,
  wishes: Wishes,
  answer: Answer | undefined,
  name: string,
): Promise<void> {
  if (answer === undefined) {
    reply.send(204, {}, '')
    return
  }
  const headers = { ...formHeaders(wishes, name), ...answer.headers }
  const tag = headers.ETag && tagOf(headers.ETag, wishes)
  if (tag) headers.ETag = tag
  if (tag && isKnown(request, tag)) {
    reply.send(304, { ETag: tag, 'Cache-Control': headers['Cache-Control'] }, '')
    return
  }
  await sendBody(request, reply, headers, bodyOf(answer, wishes))
}

function bodyOf(answer: Answer, { format, layout, callback }: Wishes): Body {
  if (format === 'csv') return answer.csv(layout)
  if (format === 'ndjson') return answer.ndjson?.() ?? ndjsonLine(answer.json())
  return callback === undefined ? answer.json() : jsonp(callback, answer.json())
}

/** Sends a body whole, or as fast as the client takes it, and compressed if that is wished. */
async function sendBody(
  request: HttpRequest,
  reply: Reply,
  headers: ReplyHeaders,
  body: Body,
): Promise<void> {
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  const isSmall = isWhole && body.length < limits.compressMinBytes
  const encoding = isSmall ? undefined : encodingOf(request.header('accept-encoding'))
  if (encoding !== undefined) {
    const sink = reply.begin(200, { ...headers, 'Content-Encoding': encoding })
    await stream(body, compressedSink(sink, encoding))
  } else if (isWhole) reply.send(200, headers, body)
  else await stream(body, reply.begin(200, headers))
}

/** Writes a body as fast as the client takes it; breaks off where that fails. */
export async function stream(body: Body, sink: Sink): Promise<void> {
  try {
    await writeBody(body, sink)
  } catch (error) {
    // The status is long gone, so a broken connection is the only way to say that this is not all.
    sink.abort()
    throw error
  }
  if (!sink.gone) sink.end()
}

function formHeaders({ format, callback }: Wishes, name: string): Record<string, string> {
  const type = {
    'Content-Type': callback === undefined ? CONTENT_TYPES[format] : JSONP_CONTENT_TYPE,
  }
  if (format !== 'csv') return type
  const filename = /^\w+$/.test(name) ? `${name}.csv` : `"${name}.csv"`
  return { ...type, 'Content-Disposition': `attachment;filename=${filename}` }
}

/** Each form of an answer has a tag of its own; an answer to one is none to another. */
function tagOf(tag: string, { format, layout, callback }: Wishes): string {
  const form =
    callback === undefined ? (format === 'csv' ? `csv-${layout}` : format) : `script-${callback}`
  return `${tag.slice(0, -1)}-${form}"`
}

/** Weak comparison (RFC 9110, 13.1.2). */
function isKnown(request: HttpRequest, tag: string): boolean {
  const known = request.header('if-none-match')
  if (known === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false
  const bare = (each: string) => each.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((each) => bare(each) === bare(tag))
}
