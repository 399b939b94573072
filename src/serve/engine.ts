/**
 * The HTTP library of a service, and the entrance that goes with it.
 *
 * @module
 */
import type { Config } from '../config.js'
import { bestEngine, loadEngine } from '../http/engine/choose.js'
import type { Engine } from '../http/engine/engine.js'
import type { Log } from '../log.js'
import { createDealtEntrance, dealtFrontCount } from './dealt-entrance.js'
import { createPlainEntrance, type Entrance } from './entrance.js'
import { createTlsEntrance } from './tls-entrance.js'

/**
 * @returns the engine, and the configuration with as many HTTP threads as can listen by it
 * @throws OperatorError  when it is not there
 */
export async function startEngine(
  config: Config,
  log: Log,
): Promise<{ engine: Engine; config: Config }> {
  const { httpEngine, httpThreadCount, tls } = config
  const engine = httpEngine === 'auto' ? await bestEngine() : await loadEngine(httpEngine)
  if (httpEngine === 'auto' && engine.name === 'node') {
    const node = process.version
    log.info({ node }, 'uWebSockets.js has no binary here, so that node:http serves, more slowly')
  }
  const frontCount = dealtFrontCount(engine, httpThreadCount, tls !== undefined)
  if (frontCount === httpThreadCount) return { engine, config }
  log.warn({ frontCount, httpThreadCount }, 'HTTP threads cannot share a port here: there is one')
  return { engine, config: { ...config, httpThreadCount: frontCount } }
}

export function createEntrance(engine: Engine, config: Config, log: Log): Entrance {
  const { tls } = config
  if (tls !== undefined) return createTlsEntrance(engine, { ...config, tls }, log)
  return engine.name === 'uws'
    ? createPlainEntrance(engine, config)
    : createDealtEntrance(engine, config)
}
