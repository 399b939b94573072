/**
 * Servers of NATS for tests: three as one cluster, with the files that packages install.
 *
 * @module
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../../support/service/certificates.js'
import { freePort } from '../../support/service/free-port.js'
import { type Owner, temporaryDirectory } from '../../support/service/hickory.js'
import { startProgram } from '../../support/service/program.js'
import { systemFile } from '../../support/service/system-file.js'
import { untilTold } from '../../support/service/until.js'
import { NATS_SERVER } from './nats-versions.js'

const NAMES = ['nats-a', 'nats-b', 'nats-c'] as const

export interface NatsOptions {
  /** The file that says who may come, beside nats-server.conf. */
  readonly roles: 'roles-nkeys.conf' | 'roles-jwt.conf'
  /** Files by name, as the test has them. */
  readonly files: Readonly<Record<string, string>>
}

export interface NatsServers {
  /** For `--cluster`. */
  readonly urls: readonly string[]
  /** For `--nats-monitor`. */
  readonly monitors: readonly string[]
  /** Of the certificate that they show. */
  readonly authority: Authority
  stop(at: number): Promise<void>
  start(at: number): Promise<void>
}

/** Starts three servers that speak TLS, and waits until JetStream has a leader; ended with the test. */
export async function startNatsServers(
  t: Owner,
  { roles, files }: NatsOptions,
): Promise<NatsServers> {
  const directory = temporaryDirectory(t)
  const authority = createAuthority(directory, 'nats')
  const { certificate, key } = authority.issue('server', { usage: 'serverAuth,clientAuth' })
  const ports: Ports[] = []
  for (const _ of NAMES) {
    ports.push({
      client: await freePort(),
      route: await freePort(),
      monitor: await freePort(),
    })
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const configs = NAMES.map((name, at) => {
    const { client, route, monitor } = ports[at]
    const text = systemFile('nats/nats-server.conf', [
      ['server_name: site-a', `server_name: ${name}`],
      ['here: 10.0.0.1', 'here: 127.0.0.1'],
      ['port: 4222', `port: ${client}`],
      ['port: 6222', `port: ${route}`],
      ['http_port: 8222', `http_port: ${monitor}`],
      ['tls://10.0.0.1:6222', `tls://127.0.0.1:${ports[0].route}`],
      ['tls://10.0.0.2:6222', `tls://127.0.0.1:${ports[1].route}`],
      ['tls://10.0.0.3:6222', `tls://127.0.0.1:${ports[2].route}`],
      [/\/etc\/nats\/server\.pem/g, certificate],
      [/\/etc\/nats\/server\.key/g, key],
      ['/etc/nats/server-ca.pem', authority.certificate],
      ['/var/lib/nats', join(directory, `store-${name}`)],
      ...(roles === 'roles-nkeys.conf'
        ? []
        : ([
            ["\ninclude 'roles-nkeys.conf'", "\n# include 'roles-nkeys.conf'"],
            [`# include '${roles}'`, `include '${roles}'`],
          ] as const)),
    ])
    const path = join(directory, `${name}.conf`)
    writeFileSync(path, text)
    return path
  })
  const start = (at: number) => startProgram(t, NATS_SERVER, ['-c', configs[at]], ports[at].client)
  const children = await Promise.all(NAMES.map((_, at) => start(at)))
  const kill = async (at: number) => {
    const child = children[at]
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  // Before their files go away.
  t.teardown(() => Promise.all(NAMES.map((_, at) => kill(at))))
  const monitors = ports.map(({ monitor }) => `http://127.0.0.1:${monitor}`)
  for (const monitor of monitors) await untilHealthy({ monitor })
  return {
    urls: ports.map(({ client }) => `tls://127.0.0.1:${client}`),
    monitors,
    authority,
    stop: kill,
    async start(at) {
      children[at] = await start(at)
    },
  }
}

export interface NatsServer {
  readonly url: string
  /** What proves that it syncs. */
  readonly monitor: string
  /** `--cluster` and `--nats-monitor`. */
  readonly reach: readonly string[]
  /** Where JetStream has its files. */
  readonly store: string
  /** With SIGTERM it writes all that it has acknowledged. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  start(): Promise<void>
  /** Stands still, or goes on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
}

interface SingleOptions {
  readonly server?: string
  /** Further lines of its file; without any, everybody is let in. */
  readonly settings?: string
  /** And of its block of JetStream. */
  readonly jetstream?: string
}

/** Starts one server that syncs what it acknowledges; ended with the test. */
export async function startNatsServer(
  t: Owner,
  { server = NATS_SERVER, settings = '', jetstream = 'sync_interval: always' }: SingleOptions = {},
): Promise<NatsServer> {
  const store = temporaryDirectory(t)
  const file = join(temporaryDirectory(t), 'nats.conf')
  const port = await freePort()
  const monitor = await freePort()
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `http: "127.0.0.1:${monitor}"`,
    `jetstream { store_dir: "${store}", ${jetstream} }`,
    settings,
  ]
  writeFileSync(file, lines.join('\n'))
  const args = ['-c', file]
  const start = () => startProgram(t, server, args, port)
  let child = await start()
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  // Before its files go away. Also where it stands still.
  t.teardown(() => stop('SIGKILL'))
  return {
    url: `nats://127.0.0.1:${port}`,
    monitor: `http://127.0.0.1:${monitor}`,
    reach: [
      ...['--cluster', `nats://127.0.0.1:${port}`],
      ...['--nats-monitor', `http://127.0.0.1:${monitor}`],
    ],
    store,
    stop: (signal = 'SIGTERM') => stop(signal),
    async start() {
      child = await start()
    },
    signal: (signal) => void child.kill(signal),
  }
}

interface Ports {
  readonly client: number
  readonly route: number
  readonly monitor: number
}

/** Until it can serve, with JetStream, and the servers among themselves know who leads that. */
export async function untilHealthy({ monitor }: Pick<NatsServer, 'monitor'>): Promise<void> {
  await untilTold(async () => {
    const answer = await fetch(`${monitor}/healthz`).catch(() => undefined)
    return answer?.status === 200
  })
}
