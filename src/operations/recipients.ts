/**
 * RecipientRequest.
 *
 * @module
 */
import { answer } from '../selection/answer.js'
import type { CurrentSnapshot } from '../selection/current.js'
import type { Execute } from './execute.js'

export function recipientOperations(current: CurrentSnapshot): { RecipientRequest: Execute } {
  return { RecipientRequest: (request, caller) => answer(current.hold(caller), request, caller) }
}
