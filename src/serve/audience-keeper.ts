/**
 * Removes audiences that have expired, and those that a cluster does not know: at the start of a service and from then on.
 *
 * @module
 */
import { removeExpired, removeUnknown } from '../audiences/directory.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'

/**
 * @param knownIds  of the audiences of a cluster, as far as the machine can tell; undefined on a machine of no cluster
 * @returns stops to do so
 */
export function keepAudiences(
  dataDirectory: string,
  knownIds: (() => ReadonlySet<string> | undefined) | undefined,
  log: Log,
): () => void {
  const sweep = async () => {
    try {
      const removedCount = await removeExpired(dataDirectory, Date.now())
      if (removedCount > 0) log.info({ removedCount }, 'removed expired audiences')
      const known = knownIds?.()
      if (known === undefined) return
      const unknownCount = await removeUnknown(dataDirectory, known, {
        startedMs: performance.timeOrigin,
        nowMs: Date.now(),
      })
      if (unknownCount > 0) log.info({ unknownCount }, 'removed audiences that nobody knows')
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException
      // The next sweep tries again, and nobody reads one that has expired.
      log.warn({ reason: code }, 'expired audiences could not be removed')
    }
  }
  void sweep()
  const timer = setInterval(sweep, limits.audienceSweepMs).unref()
  return () => clearInterval(timer)
}
