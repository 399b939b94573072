/**
 * How operations are executed, as the HTTP layer sees it.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import type { OperationName } from '../interface/operations.js'
import type { Asker } from '../selection/access.js'
import type { JsonObject } from '../selection/parse.js'

/**
 * Executes one request: its members as they came, by any of their spellings.
 *
 * @returns undefined for 204 No Content
 * @throws ServiceError
 */
export type Execute = (request: JsonObject, caller: Asker) => Promise<Answer | undefined>

export type Executors = Readonly<Record<OperationName, Execute>>

/** Lines of NDJSON in place of a list of a request. */
export class SentLines {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
