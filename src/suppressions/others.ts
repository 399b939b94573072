/**
 * Waiting for the other services of a data directory to answer by a change.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { ServiceRegistry } from '../store/services.js'

/** Between two looks at what the others have taken. */
const LOOK_MS = 10

/**
 * Resolves when every other service that runs answers by a change.
 *
 * @param waitMs  `limits.suppressionTakeMs` unless given
 * @throws ServiceError  Unavailable, when one of them does not in time; the change is stored
 */
export async function untilOthersTake(
  services: Pick<ServiceRegistry, 'lagging'>,
  version: number,
  waitMs: number = limits.suppressionTakeMs,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs
  while (services.lagging(version).length > 0) {
    if (performance.now() >= deadlineMs) throw new ServiceError('Unavailable', NOT_TAKEN)
    await sleep(LOOK_MS)
  }
}

export const NOT_TAKEN =
  'the change is stored, but a service of this data directory does not answer by it yet: ' +
  'send it again to wait for that'
