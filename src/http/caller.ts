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
  return new Client(reply)
}

class Client implements Caller {
  readonly deadlineMs = performance.now() + limits.requestMs
  readonly #reply: Reply

  constructor(reply: Reply) {
    this.#reply = reply
  }

  get gone(): boolean {
    return this.#reply.gone
  }

  whenOver(listener: () => void): void {
    this.#reply.whenOver(listener)
  }
}
