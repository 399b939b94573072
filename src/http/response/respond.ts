/**
 * Writes the answer of an operation in the format that the client wants.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import { type Answer, type Body, type BodyWriter, isWhole, writeBody } from '../../format/answer.js'
import { type Format, formats } from '../../format/formats.js'
import { JSONP_CONTENT_TYPE, jsonp } from '../../format/jsonp.js'
import { limits } from '../../limits.js'
import type { Reply, ReplyHeaders, Sink } from '../../selection/reply.js'
import type { HttpRequest } from '../request.js'
import { compressors, encodingOf, transformedSink } from './compression.js'
import type { ResponseOptions } from './response-options.js'

/** @param name  of the file that a browser saves, without a suffix */
export function respond(
  request: HttpRequest,
  reply: Reply,
  answer: Answer | undefined,
  name: string,
): void | Promise<void> {
  if (answer === undefined) {
    reply.send(204, {}, '')
    return
  }
  const { options } = request
  const headers = headersOf(answer, options, name)
  const { ETag: tag } = headers
  if (tag && isKnown(request, tag)) {
    reply.send(304, { ETag: tag, 'Cache-Control': headers['Cache-Control'] }, '')
    return
  }
  const body = bodyOf(answer, options)
  return sendBody(request, reply, headers, request.audited?.digested(body) ?? body)
}

function bodyOf(answer: Answer, { format, layout, callback }: ResponseOptions): Body {
  const body = formats[format].body(answer, layout)
  return callback === undefined ? body : jsonp(callback, body)
}

/** Sends a body whole or under back-pressure, and compressed if the client accepts that. */
function sendBody(
  request: HttpRequest,
  reply: Reply,
  headers: ReplyHeaders,
  body: Body,
): void | Promise<void> {
  const isSmall = isWhole(body) && body.length < limits.compressMinBytes
  const encoding = isSmall ? undefined : encodingOf(request.header('accept-encoding'))
  if (encoding !== undefined) {
    const sink = reply.begin(200, { ...headers, 'Content-Encoding': encoding })
    return stream(body, transformedSink(sink, compressors[encoding]()))
  }
  if (!isWhole(body)) return sendLong(reply, headers, body)
  reply.send(200, headers, body)
}

/** Sends a body that writes itself, with its length where that can be known. */
async function sendLong(reply: Reply, headers: ReplyHeaders, body: BodyWriter): Promise<void> {
  const byteCount = await body.byteCount?.()
  await stream(body, reply.begin(200, headers, byteCount))
}

/** Writes a body under back-pressure, and breaks the connection off if that fails. */
async function stream(body: Body, sink: Sink): Promise<void> {
  try {
    await writeBody(body, sink)
  } catch (error) {
    // The status is long gone, so a broken connection is the only way to say that this is not all.
    // What the pool says of its own faults has nothing of the request; another fault is a bug, logged as one.
    sink.abort(error instanceof ServiceError ? error.message : undefined)
    throw error
  }
  if (!sink.gone) sink.end()
}

/**
 * The headers of an answer in the form that the client wants. Those of many answers are made once, so
 * that the connection knows them again.
 */
function headersOf(answer: Answer, options: ResponseOptions, name: string): ReplyHeaders {
  const { headers: own } = answer
  const known = sharedHeaders.get(own)?.get(name)?.[options.format]
  if (known !== undefined && options.callback === undefined) return known
  const headers = madeHeaders(answer, options, name)
  if (options.callback === undefined && !headers.ETag && Object.isFrozen(own)) {
    share(Object.freeze(headers), own, options.format, name)
  }
  return headers
}

function share(headers: ReplyHeaders, own: ReplyHeaders, format: Format, name: string): void {
  const byName = sharedHeaders.get(own) ?? new Map<string, HeadersByFormat>()
  sharedHeaders.set(own, byName)
  byName.set(name, { ...byName.get(name), [format]: headers })
}

type HeadersByFormat = Readonly<Partial<Record<Format, ReplyHeaders>>>

/** By the frozen headers of answers, and by the name of the answer. */
const sharedHeaders = new WeakMap<ReplyHeaders, Map<string, HeadersByFormat>>()

function madeHeaders(
  { headers: own, isBatch = false }: Answer,
  options: ResponseOptions,
  name: string,
): Record<string, string> {
  const headers = { ...formHeaders(options, name, isBatch), ...own }
  if (headers.ETag) headers.ETag = tagOf(headers.ETag, options)
  return headers
}

function formHeaders(
  { format, callback }: ResponseOptions,
  name: string,
  isBatch: boolean,
): Record<string, string> {
  const { contentType, otherContentType, fileSuffix } = formats[format]
  const plain = isBatch ? otherContentType : contentType
  const type = { 'Content-Type': callback === undefined ? plain : JSONP_CONTENT_TYPE }
  if (fileSuffix === undefined) return type
  const filename = /^\w+$/.test(name) ? `${name}${fileSuffix}` : `"${name}${fileSuffix}"`
  return { ...type, 'Content-Disposition': `attachment;filename=${filename}` }
}

/** The ETag of one form of an answer. Forms differ in their bytes, and so in their tags. */
function tagOf(tag: string, { format, layout, callback }: ResponseOptions): string {
  const script = callback === undefined ? '' : `-script-${callback}`
  const form = formats[format].tag(layout) + script
  return `${tag.slice(0, -1)}-${form}"`
}

/** Weak comparison (RFC 9110, 13.1.2). */
function isKnown(request: HttpRequest, tag: string): boolean {
  const known = request.header('if-none-match')
  if (known === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false
  const bare = (each: string) => each.trim().replace(/^W\//, '')
  return known.trim() === '*' || known.split(',').some((each) => bare(each) === bare(tag))
}
