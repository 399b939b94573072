/**
 * The client of a request, as those see it who work on the answer.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Caller } from '../pool/messages.js'
import type { Reply } from '../selection/reply.js'

/** The client waits from now on. */
export function callerOf(reply: Reply): Caller {
  return {
    deadlineMs: performance.now() + limits.requestMs,
    get gone() {
      return reply.gone
    },
    whenOver: (listener) => reply.whenOver(listener),
  }
}
