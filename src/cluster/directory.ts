/**
 * What a machine of a cluster has for itself: a folder of its data directory, and one process.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import type { ServiceRegistry } from '../store/services.js'

export const clusterDirectory = (dataDirectory: string) => join(dataDirectory, 'cluster')

/** What tells this process from another one that has the same name in a cluster: in containers, both have the same id. */
export const processSession: string = randomBytes(8).toString('hex')

/**
 * In a cluster, one service runs on a directory: two would promise different things.
 *
 * @throws OperatorError  Usage, where another service is registered that runs
 */
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
