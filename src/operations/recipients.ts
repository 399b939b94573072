/**
 * RecipientRequest.
 *
 * @module
 */
import { answer, type SelectionService } from '../selection/answer.js'
import type { Execute } from './execute.js'

export function recipientOperations(service: SelectionService): { RecipientRequest: Execute } {
  return { RecipientRequest: (request, caller) => answer(service, request, caller) }
}
