/**
 * Servers of NATS that sync what they acknowledge, as the log of a cluster needs them.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../../../src/cluster/nats/connection.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { StreamLog } from '../../../src/cluster/nats/stream-log.js'
import { freePort } from '../../support/service/free-port.js'
import { type Owner, temporaryDirectory } from '../../support/service/hickory.js'
import { startProgram } from '../../support/service/program.js'
import { untilTold } from '../../support/service/until.js'
import { FOUNDING } from './log-contract.js'

/** One of several that are a cluster, or one alone. */
export class SyncedServer {
  readonly url: string
  readonly monitor: string
  readonly store: string
  readonly #t: Owner
  readonly #command: readonly [server: string, ...args: string[]]
  readonly #port: number
  #child: ChildProcess | undefined

  constructor(t: Owner, server: string, { port, monitor, store, config }: ServerPlace) {
    this.#t = t
    this.#command = [server, '-c', config]
    this.#port = port
    this.url = `nats://127.0.0.1:${port}`
    this.monitor = `http://127.0.0.1:${monitor}`
    this.store = store
  }

  async start(): Promise<void> {
    const [server, ...args] = this.#command
    this.#child = await startProgram(this.#t, server, args, this.#port)
    // Before its files go away.
    this.#t.teardown(() => this.stop('SIGKILL'))
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  /** Until JetStream answers, and the servers know who leads. */
  async untilHealthy(): Promise<void> {
    await untilTold(async () => {
      const answer = await fetch(`${this.monitor}/healthz`).catch(() => undefined)
      return answer?.status === 200
    })
  }
}

interface ServerPlace {
  readonly port: number
  readonly monitor: number
  readonly store: string
  readonly config: string
}

interface ServersOptions {
  readonly count?: number
  /** Lines of `jetstream`; those of a synced server by default. */
  readonly settings?: string
}

/** Starts them and waits until they serve. */
export async function startSyncedServers(
  t: Owner,
  server: string,
  { count = 1, settings = 'sync_interval: always' }: ServersOptions = {},
): Promise<readonly SyncedServer[]> {
  const directory = temporaryDirectory(t)
  const routes: number[] = []
  for (let at = 0; at < count; at++) routes.push(await freePort())
  const servers: SyncedServer[] = []
  for (const [at, route] of routes.entries()) {
    const port = await freePort()
    const monitor = await freePort()
    const store = join(directory, `store-${at}`)
    const config = join(directory, `${at}.conf`)
    const others = routes.map((other) => `nats://127.0.0.1:${other}`).join(', ')
    const cluster = `cluster { name: tests, listen: "127.0.0.1:${route}", routes: [${others}] }`
    const lines = [
      `server_name: nats-${at}`,
      `listen: "127.0.0.1:${port}"`,
      `http: "127.0.0.1:${monitor}"`,
      `jetstream { store_dir: "${store}", ${settings} }`,
      count > 1 ? cluster : '',
    ]
    writeFileSync(config, lines.join('\n'))
    servers.push(new SyncedServer(t, server, { port, monitor, store, config }))
  }
  await Promise.all(servers.map((one) => one.start()))
  for (const one of servers) await one.untilHealthy()
  return servers
}

/** A connection to the first of these servers that is there; closed with the test. */
export async function connectedTo(t: Owner, servers: readonly SyncedServer[]): Promise<Connection> {
  const settings = { servers: servers.map(({ url }) => url) }
  const connection = await Connection.open(settings, 'test', { onChange() {}, onDenied() {} })
  t.teardown(() => connection.nats.close())
  return connection
}

/** The same, and the log by it, which is founded where it is missing. */
export async function openLog(
  t: Owner,
  servers: readonly SyncedServer[],
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
