/**
 * Errors that nobody has caught.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { errorTables } from '../errors.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'

/**
 * Logs such an error and ends the process for its supervisor, also one of a promise that nobody
 * waited for.
 *
 * @param release  closes what must be closed first; given up after `limits.breakOffMs`
 */
export function endOnUncaught(log: Log, release: () => Promise<void>): void {
  let isEnding = false
  process.on('uncaughtException', async (error) => {
    log.fatal(describeFault(error), 'the main thread failed')
    if (isEnding) return
    isEnding = true
    await Promise.race([release().catch(() => {}), sleep(limits.breakOffMs)])
    process.exit(errorTables.operatorErrors.Failed)
  })
}
