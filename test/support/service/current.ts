/**
 * Snapshots that fronts answer from, in tests.
 *
 * @module
 */
import type { SelectionService } from '../../../src/selection/answer.js'
import { type CurrentSnapshot, createCurrent } from '../../../src/serve/front-current.js'

/** One that no other takes the place of. */
export function always(service: SelectionService): CurrentSnapshot {
  return createCurrent({ service, close: async () => {} })
}
