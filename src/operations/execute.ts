/**
 * How operations are carried out, as the HTTP layer sees it.
 *
 * @module
 */
import type { Answer } from '../format/answer.js'
import type { OperationName } from '../interface/operations.js'
import type { Asker } from '../selection/access.js'
import type { JsonObject } from '../selection/parse.js'

/**
 * Carries out one request: its members as they came, by any of their spellings.
 *
 * @returns undefined when there is nothing to say
 * @throws ServiceError
 */
export type Execute = (request: JsonObject, caller: Asker) => Promise<Answer | undefined>

export type Executors = Readonly<Record<OperationName, Execute>>
