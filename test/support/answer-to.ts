/**
 * Requests answered without a server: the stages of selection, and the writing of what they give.
 *
 * @module
 */
import type { Format } from '../../src/format/negotiate.js'
import { stream } from '../../src/http/respond.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { parse } from '../../src/selection/parse.js'
import type { Reply } from '../../src/selection/reply.js'
import { inTime } from './in-time.js'

/** Answers a body. */
export async function answerTo(
  service: SelectionService,
  body: Uint8Array,
  format: Format,
  reply: Reply,
): Promise<void> {
  const { headers, json, csv, ndjson = json } = await answer(service, parse(body), inTime())
  const given = { json, csv: () => csv('flat'), ndjson }[format]()
  if (typeof given === 'function') await stream(given, reply.begin(200, headers))
  else reply.send(200, headers, given)
}
