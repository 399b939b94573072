/**
 * Snapshots that fronts answer from, in tests.
 *
 * @module
 */
import type { SelectionService } from '../../../src/selection/answer.js'
import { createCurrent } from '../../../src/serve/served-snapshots.js'

/** One that no other takes the place of. */
export function always(service: SelectionService): ReturnType<typeof createCurrent> {
  return createCurrent({ service, close: async () => {} })
}
