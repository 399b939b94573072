/**
 * The admin listener of a running service: which paths it has, and what they ask.
 *
 * @module
 */

import {
  type AdminListener,
  type AdminRoute,
  listenForAdmin,
  plainAnswer,
} from '../admin/listener.js'
import { metricsRoute } from '../admin/metrics-route.js'
import type { Config } from '../config.js'
import type { Log } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import { readVersion } from '../version.js'
import { unreadyReason } from './freshness.js'
import { serviceReadings } from './readings.js'
import type { ServiceState } from './state.js'

interface AdminOptions {
  readonly config: Config
  readonly memory: MetricsMemory
  readonly state: ServiceState
  readonly log: Log
}

/**
 * @returns undefined where no port is configured
 * @throws OperatorError  when it cannot listen
 */
export async function startAdmin(options: AdminOptions): Promise<AdminListener | undefined> {
  const { config, memory, state, log } = options
  const { adminPort, adminHost } = config
  if (adminPort === undefined) return undefined
  const readings = serviceReadings(state, readVersion(), config.dataDirectory)
  const routes: Record<string, AdminRoute> = {
    '/metrics': metricsRoute(memory, readings),
    '/livez': () => plainAnswer(200, 'live'),
    '/readyz': () => {
      const reason =
        state.phase === 'ready' ? unreadyReason(false, state.cluster?.freshness) : state.phase
      return plainAnswer(reason === undefined ? 200 : 503, reason ?? 'ready')
    },
  }
  const listener = await listenForAdmin({ host: adminHost, port: adminPort, routes, log })
  log.info({ port: listener.port }, 'admin requests are answered')
  return listener
}
