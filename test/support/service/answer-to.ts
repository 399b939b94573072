/**
 * Requests answered without a server: the stages of selection, and the writing of what they give.
 *
 * @module
 */
import { type Format, formats } from '../../../src/format/formats.js'
import { stream } from '../../../src/http/response/respond.js'
import { answer, type SelectionService } from '../../../src/selection/answer.js'
import { parse } from '../../../src/selection/parse.js'
import type { Reply } from '../../../src/selection/reply.js'
import { inTime } from './in-time.js'

/** Answers a body. */
export async function answerTo(
  service: SelectionService,
  body: Uint8Array,
  format: Format,
  reply: Reply,
): Promise<void> {
  const given = await answer(service, parse(body), inTime())
  const written = formats[format].body(given, 'flat')
  if (typeof written === 'function') await stream(written, reply.begin(200, given.headers))
  else reply.send(200, given.headers, written)
}
