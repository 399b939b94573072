/**
 * The answer to a request that there is no room for. It must cost next to nothing: a service that
 * is full and takes long to say so stays full.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Format } from '../format/negotiate.js'
import type { Reply, ReplyHeaders } from '../selection/reply.js'
import { sendError } from './fault.js'
import { retryAfterSeconds } from './retry-after.js'
import type { Wishes } from './wishes.js'

/** Refuses as `sendError` does, with what that made once. */
export function sendOverloaded(reply: Reply, wishes: Wishes): void {
  if (wishes.callback !== undefined) {
    sendError(reply, overloaded, wishes)
    return
  }
  const { headers, body } = kept.get(wishes.format) ?? make(wishes)
  reply.send(overloaded.status, { ...headers, 'Retry-After': retryAfterSeconds() }, body)
}

interface Refusal {
  readonly headers: ReplyHeaders
  readonly body: Uint8Array
}

const overloaded = new ServiceError('Overloaded', 'there are too many requests; try again soon')

/** As many as there are formats. */
const kept = new Map<Format, Refusal>()

function make(wishes: Wishes): Refusal {
  const send: Reply['send'] = (_, headers, body) => {
    kept.set(wishes.format, { headers, body: Buffer.from(body) })
  }
  sendError({ send }, overloaded, wishes)
  return kept.get(wishes.format) as Refusal
}
