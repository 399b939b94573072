/**
 * Servers of NATS that sync what they acknowledge, as the log of a cluster needs them.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../../../src/cluster/nats/connection.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { StreamLog } from '../../../src/cluster/nats/stream-log.js'
import { freePort } from '../../support/service/free-port.js'
import type { Owner } from '../../support/service/hickory.js'
import { type NatsServer, startNatsServer, untilHealthy } from '../support/nats-servers.js'
import { FOUNDING } from './log-contract.js'

interface ServersOptions {
  readonly count?: number
  /** Lines of `jetstream`; those of a synced server by default. */
  readonly jetstream?: string
}

/** Starts one, or several that are a cluster, and waits until they serve. */
export async function startSyncedServers(
  t: Owner,
  server: string,
  { count = 1, ...options }: ServersOptions = {},
): Promise<readonly NatsServer[]> {
  const ports: number[] = []
  for (let at = 0; at < count; at++) ports.push(await freePort())
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(', ')
  const starting = ports.map((port, at) => {
    const cluster = `cluster { name: tests, listen: "127.0.0.1:${port}", routes: [${routes}] }`
    const settings = [`server_name: nats-${at}`, count > 1 ? cluster : ''].join('\n')
    return startNatsServer(t, { server, settings, ...options })
  })
  const servers = await Promise.all(starting)
  for (const one of servers) await untilHealthy(one)
  return servers
}

/** A connection to the first of these servers that is there; closed with the test. */
export async function connectedTo(t: Owner, servers: readonly NatsServer[]): Promise<Connection> {
  const settings = { servers: servers.map(({ url }) => url) }
  const connection = await Connection.open(settings, 'test', { onChange() {}, onDenied() {} })
  t.teardown(() => connection.nats.close())
  return connection
}

/** The same, and the log by it, which is founded where it is missing. */
export async function openLog(
  t: Owner,
  servers: readonly NatsServer[],
  founding = FOUNDING,
): Promise<{ readonly connection: Connection; readonly log: StreamLog }> {
  const connection = await connectedTo(t, servers)
  const log = await StreamLog.open(connection, namesOf('test'))
  const deadlineMs = performance.now() + 60_000
  for (;;) {
    try {
      await log.found(founding)
      return { connection, log }
    } catch (fault) {
      // The servers may still be electing who leads, and refuse at once meanwhile.
      if (performance.now() > deadlineMs) throw fault
      await sleep(50)
    }
  }
}
