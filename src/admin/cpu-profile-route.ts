/**
 * `/debug/cpu-profile`: where a thread spends its time. One is taken at a time, since each slows its thread
 * down a little.
 *
 * @module
 */
import { limits } from '../limits.js'
import { type AdminRoute, plainAnswer } from './listener.js'

export interface Profiler {
  /** The threads of which a profile can be taken. */
  threads(): readonly string[]
  /**
   * @param gone  aborted when nobody waits for it any more
   * @returns JSON
   */
  profile(thread: string, ms: number, gone: AbortSignal): Promise<string>
}

export function cpuProfileRoute(profiler: Profiler): AdminRoute {
  let isBusy = false
  return async ({ query, gone }) => {
    const thread = query.get('thread') ?? 'main'
    const seconds = Number(query.get('seconds') ?? DEFAULT_SECONDS)
    const most = limits.profileMs / 1_000
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > most) {
      return plainAnswer(400, `seconds must be a whole number from 1 to ${most}`)
    }
    const threads = profiler.threads()
    if (!threads.includes(thread)) {
      return plainAnswer(404, `there is no such thread; there are ${threads.join(', ')}`)
    }
    if (isBusy) {
      return { ...plainAnswer(409, 'a profile is being taken'), headers: { 'Retry-After': '10' } }
    }
    isBusy = true
    try {
      const body = await profiler.profile(thread, 1_000 * seconds, gone)
      const name = `hickory-${thread}.cpuprofile`
      const headers = { 'Content-Disposition': `attachment; filename="${name}"` }
      return { status: 200, contentType: 'application/json', body, headers }
    } catch (fault) {
      return plainAnswer(503, `no profile: ${(fault as Error).message}`)
    } finally {
      isBusy = false
    }
  }
}

const DEFAULT_SECONDS = 10
