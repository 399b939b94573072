/**
 * Removes audiences that have expired: at the start of a service and from then on.
 *
 * @module
 */
import { removeExpired } from '../audiences/directory.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'

/** @returns stops to do so */
export function keepAudiences(dataDirectory: string, log: Log): () => void {
  const sweep = async () => {
    try {
      const removedCount = await removeExpired(dataDirectory, Date.now())
      if (removedCount > 0) log.info({ removedCount }, 'removed expired audiences')
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
