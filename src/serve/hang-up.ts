/**
 * SIGHUP: certificates and keys are read again, and the access log is opened anew.
 *
 * @module
 */
import type { Log } from '../log.js'
import type { Entrance } from './entrance.js'
import type { Front } from './fronts.js'

/**
 * Reads the files of the entrance again on SIGHUP, which ends nothing where there are none, either.
 *
 * @returns stops to do so
 */
export function reloadOnHangUp(
  entrance: Entrance,
  { reopen, fronts }: { readonly reopen: () => void; readonly fronts: () => readonly Front[] },
  log: Log,
): () => void {
  const reload = () => {
    reopen()
    const news = entrance.reload()
    if (news === undefined) log.info('there is no certificate that could be read again')
    else for (const { tell } of fronts()) tell.knowCertificate(news)
  }
  process.on('SIGHUP', reload)
  return () => process.off('SIGHUP', reload)
}
