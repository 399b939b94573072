/**
 * In a cluster, one service runs on a directory: two would promise different things.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import type { ServiceRegistry } from '../store/services.js'

/** @throws OperatorError  Usage, where another service is registered that runs */
export function assertNobodyRuns(
  dataDirectory: string,
  services: Pick<ServiceRegistry, 'lagging'>,
): void {
  const [other] = services.lagging(Number.POSITIVE_INFINITY)
  if (other === undefined) return
  throw new OperatorError(
    'Usage',
    `the service with process id ${other} runs on ${dataDirectory}, and in a cluster there is one for each directory: ` +
      'stop it first',
  )
}
