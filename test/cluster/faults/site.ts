/**
 * A site of a cluster: a network and a small disk of its own, a nats-server and a service.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../../support/service/hickory.js'
import { NATS_SERVER } from '../support/nats-versions.js'
import type { SiteNetwork } from './network.js'

const cli = fileURLToPath(new URL('../../../bundle/cli.js', import.meta.url))

export type Part = 'service' | 'nats'

export interface SiteOptions {
  readonly name: string
  readonly network: SiteNetwork
  /** Of all sites. */
  readonly networks: readonly SiteNetwork[]
  readonly directory: string
  readonly flags: readonly string[]
  /** Where all that its processes write is to be; undefined for nowhere. */
  readonly logDirectory?: string | undefined
}

export class Site {
  readonly name: string
  readonly network: SiteNetwork
  readonly url: string
  readonly data: string
  readonly #options: SiteOptions
  readonly #processes: Partial<Record<Part, ChildProcess>> = {}
  /** What each of its processes has written, the last of it. */
  readonly log: Record<Part, string> = { service: '', nats: '' }
  /** Processes that ended although nobody wanted it. */
  readonly deaths: string[] = []

  constructor(owner: Owner, options: SiteOptions) {
    const { name, network, directory } = options
    this.name = name
    this.network = network
    this.url = `http://${network.address}:${network.ports.http}`
    this.data = join(directory, 'data')
    this.#options = options
    mkdirSync(directory, { recursive: true })
    if (network.isOwn) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1g', 'tmpfs', directory])
    }
    mkdirSync(this.data)
    owner.teardown(async () => {
      await this.kill('service')
      await this.kill('nats')
      if (network.isOwn) execFileSync('umount', ['--lazy', directory])
      rmSync(directory, { recursive: true, force: true })
    })
  }

  get isRunning(): boolean {
    return this.#processes.service !== undefined
  }

  start(part: Part): void {
    if (part === 'nats') this.#startNats()
    else this.#startService()
  }

  #startNats(): void {
    const { directory, network, networks, name } = this.#options
    const { client, route, monitor } = network.ports
    const routes = networks.map(({ address, ports }) => `nats://${address}:${ports.route}`)
    const config = join(directory, 'nats.conf')
    writeFileSync(
      config,
      `server_name: ${name}
listen: "${network.address}:${client}"
ping_interval: "2s"
http: "${network.address}:${monitor}"
jetstream { store_dir: "${this.directoryOf('nats')}", max_file_store: 20GB, sync_interval: always }
cluster { name: sites, listen: "${network.address}:${route}", routes: ${JSON.stringify(routes)} }
`,
    )
    this.#spawn('nats', [NATS_SERVER, '-c', config])
  }

  #startService(): void {
    const { network, networks, name, flags } = this.#options
    const { address, ports } = network
    const others = networks.filter((one) => one !== network)
    const servers = [network, ...others].map(
      ({ address, ports }) => `nats://${address}:${ports.client}`,
    )
    const monitors = networks.map(({ address, ports }) => `http://${address}:${ports.monitor}`)
    // At the usual port, a machine finds that of the server which it reaches.
    const named = ports.monitor === 8222 ? [] : ['--nats-monitor', monitors.join()]
    this.#spawn('service', [
      ...[process.execPath, cli, 'serve', '--data', this.data, '--host', address, '--keys'],
      ...['--port', String(ports.http), '--cluster', servers.join(), '--name', name],
      ...named,
      ...['--http-threads', '1', '--query-threads', '1', ...flags],
    ])
  }

  signal(part: Part, signal: NodeJS.Signals): void {
    this.#processes[part]?.kill(signal)
  }

  async kill(part: Part, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#processes[part]
    if (child === undefined) return
    delete this.#processes[part]
    const ended = once(child, 'exit')
    child.kill(signal)
    // One that is stopped would not end by anything else.
    child.kill('SIGCONT')
    if (child.exitCode === null && child.signalCode === null) await ended
  }

  /** Takes all room on its disk. */
  fillDisk(): void {
    const file = openSync(this.#filler, 'w')
    const block = Buffer.alloc(65_536, 1)
    try {
      for (let size = block.length; size > 0; ) {
        try {
          if (writeSync(file, block, 0, size) < size) size = Math.floor(size / 2)
        } catch {
          size = Math.floor(size / 2)
        }
      }
    } finally {
      closeSync(file)
    }
  }

  freeDisk(): void {
    rmSync(this.#filler, { force: true })
  }

  wipe(part: Part): void {
    const directory = this.directoryOf(part)
    for (const name of readdirSync(directory)) {
      rmSync(join(directory, name), { recursive: true, force: true })
    }
  }

  directoryOf(part: Part): string {
    return part === 'service' ? this.data : join(this.#options.directory, 'nats')
  }

  /** Files below its directory that are not empty, with their paths there. */
  files(part: Part): string[] {
    const directory = this.directoryOf(part)
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((path) => {
        const found = statSync(join(directory, path), { throwIfNoEntry: false })
        return found?.isFile() && found.size > 0
      })
      .sort()
  }

  get #filler(): string {
    return join(this.#options.directory, 'filler')
  }

  #spawn(part: Part, words: readonly string[]): void {
    const [command, ...args] = this.network.within(words)
    const { NODE_OPTIONS: _, ...others } = process.env
    const child = spawn(command, args, {
      // Where Debian has servers, and only root looks by itself.
      env: { ...others, PATH: `${others.PATH}:/usr/sbin` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const take = (text: Buffer) => {
      this.log[part] = (this.log[part] + text.toString()).slice(-200_000)
      const { logDirectory } = this.#options
      if (logDirectory === undefined) return
      appendFileSync(join(logDirectory, `${this.name}-${part}.log`), text)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('exit', (code, signal) => {
      if (this.#processes[part] !== child) return
      delete this.#processes[part]
      const last = this.log[part].trim().split('\n').slice(-12).join('\n')
      this.deaths.push(`${part} of ${this.name} ended with ${code ?? signal}:\n${last}`)
    })
    this.#processes[part] = child
  }
}
