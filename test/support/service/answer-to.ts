/**
 * Requests answered without a server: the stages of selection, and the writing of what they give.
 *
 * @module
 */
import type { Format } from '../../../src/format/formats.js'
import type { HttpRequest } from '../../../src/http/request.js'
import { respond } from '../../../src/http/response/respond.js'
import { OPEN_ACCESS } from '../../../src/selection/access.js'
import { answer, type SelectionService } from '../../../src/selection/answer.js'
import { parse } from '../../../src/selection/parse.js'
import type { Reply } from '../../../src/selection/reply.js'
import { inTime } from './in-time.js'
import { memoryReply } from './memory-reply.js'

/** Answers a body. */
export async function answerTo(
  service: SelectionService,
  body: Uint8Array,
  format: Format,
  reply: Reply,
  access = OPEN_ACCESS,
): Promise<void> {
  const given = await answer(service, parse(body), { ...inTime(), access })
  await respond(asking(format), reply, given, 'recipients')
}

/** The body of an answer, or why there is none. */
export async function answeredText(
  service: SelectionService,
  request: object,
  format: Format,
): Promise<string> {
  const reply = memoryReply()
  try {
    await answerTo(service, Buffer.from(JSON.stringify(request)), format, reply)
    return reply.text()
  } catch (fault) {
    return `${(fault as { code?: string }).code}: ${(fault as Error).message}`
  }
}

/** A request as far as it decides what is written. */
function asking(format: Format): HttpRequest {
  const options = { format, layout: 'flat', callback: undefined }
  return { method: 'POST', options, header: () => undefined } as unknown as HttpRequest
}
