/**
 * The admin listener of a running service: which paths it has, and what they ask.
 *
 * @module
 */

import { cpuProfileRoute } from '../admin/cpu-profile-route.js'
import {
  type AdminListener,
  type AdminRoute,
  listenForAdmin,
  plainAnswer,
} from '../admin/listener.js'
import { metricsRoute } from '../admin/metrics-route.js'
import { statusRoute } from '../admin/status-page.js'
import type { Config } from '../config.js'
import type { Log } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import { readVersion } from '../version.js'
import { heapRoute, threadProfiler } from './debug.js'
import { unreadyReason } from './freshness.js'
import { workersOfFront } from './fronts.js'
import { clusterRoute } from './known-cluster.js'
import { serviceReadings } from './readings.js'
import type { ServiceState } from './state.js'
import { statusTables } from './status.js'

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
  const { httpThreadCount: frontCount, queryThreadCount } = config
  const version = readVersion()
  const readings = serviceReadings(state, version, config.dataDirectory)
  const workerCountOf = (front: number) => workersOfFront(queryThreadCount, frontCount, front)
  const routes: Record<string, AdminRoute> = {
    '/metrics': metricsRoute(memory, readings),
    '/statusz': statusRoute(statusTables(state, memory, readings, version)),
    '/clusterz': clusterRoute(() => state.cluster),
    '/debug/heap': heapRoute(state, memory, frontCount),
    '/debug/cpu-profile': cpuProfileRoute(threadProfiler(state, frontCount, workerCountOf)),
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
