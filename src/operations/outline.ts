/**
 * OutlineRequest.
 *
 * @module
 */
import { type OutlineService, outline } from '../outline/outline.js'
import type { Execute } from './execute.js'

export function outlineOperations(service: OutlineService): { OutlineRequest: Execute } {
  return { OutlineRequest: (request, caller) => outline(service, request, caller) }
}
