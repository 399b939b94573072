/**
 * Waiting for the other services of a data directory to answer by a change.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { ServiceRegistry } from '../store/services.js'

/**
 * Resolves when every other service that runs answers by a change.
 *
 * @param waitMs  `limits.suppressionTakeMs` unless given
 * @throws ServiceError  Unavailable, when one of them does not in time; the change is stored
 */
export async function untilOthersTake(
  services: Pick<ServiceRegistry, 'untilTaken'>,
  version: number,
  waitMs: number = limits.suppressionTakeMs,
): Promise<void> {
  if (await services.untilTaken(version, waitMs)) return
  throw new ServiceError('Unavailable', NOT_TAKEN)
}

export const NOT_TAKEN =
  'the change is stored, but a service of this data directory does not answer by it yet: ' +
  'send it again to wait for that'
