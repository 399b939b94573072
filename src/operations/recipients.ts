/**
 * RecipientRequest: who is inside a shape. The stages are in selection/answer.ts.
 *
 * @module
 */
import { answer, type CurrentService } from '../selection/answer.js'
import type { Execute } from './execute.js'

export function recipientOperations(current: CurrentService): { RecipientRequest: Execute } {
  return { RecipientRequest: (request, caller) => answer(current.hold(caller), request, caller) }
}
