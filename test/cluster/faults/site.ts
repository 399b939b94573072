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
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ageLock } from '../../faults/content.js'
import { Disk } from '../../faults/power/disk.js'
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
  /** What it has on disk: on one of its own if it has a network of its own. */
  readonly #directory: string
  readonly #disk: Disk | undefined
  #mountCount = 0
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
    this.#options = options
    mkdirSync(directory, { recursive: true })
    owner.teardown(() => rmSync(directory, { recursive: true, force: true }))
    if (network.isOwn) {
      // In memory, so that none waits for the real disk.
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', directory])
      owner.teardown(() => execFileSync('umount', ['--lazy', directory]))
      this.#disk = new Disk(owner, directory, DISK_BYTES)
      this.#disk.format(0)
    }
    this.#directory = this.#disk?.path ?? directory
    this.data = join(this.#directory, 'data')
    mkdirSync(this.data)
    owner.teardown(async () => {
      await this.kill('service')
      await this.kill('nats')
    })
  }

  isRunning(part: Part): boolean {
    return this.#processes[part] !== undefined
  }

  start(part: Part): void {
    if (part === 'nats') this.#startNats()
    else this.#startService()
  }

  #startNats(): void {
    const { network, networks, name } = this.#options
    const { client, route, monitor } = network.ports
    const routes = networks.map(({ address, ports }) => `nats://${address}:${ports.route}`)
    const config = join(this.#directory, 'nats.conf')
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

  /** Takes all room on its disk, and has it after a loss of power. */
  fillDisk(): void {
    // Most of it at once: clients are in this process, and wait meanwhile.
    const { bavail, bsize } = statfsSync(this.#directory)
    const byteCount = bavail * bsize - 4 * 2 ** 20
    if (byteCount > 0) execFileSync('fallocate', ['--length', String(byteCount), this.#filler])
    const file = openSync(this.#filler, 'a')
    const block = Buffer.alloc(65_536, 1)
    try {
      for (let size = block.length; size > 0; ) {
        try {
          if (writeSync(file, block, 0, size) < size) size = Math.floor(size / 2)
        } catch {
          size = Math.floor(size / 2)
        }
      }
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  }

  freeDisk(): void {
    rmSync(this.#filler, { force: true })
  }

  /** What was not synced is gone. Its processes must be stopped. */
  cutPower(): void {
    if (this.#disk === undefined) throw new Error('only a disk of its own can lose its power')
    this.#disk.cutPower()
  }

  /** Gives the disk power again, once its processes are killed. */
  mountDisk(): void {
    this.#disk?.mount(++this.#mountCount)
    // A machine takes longer to start than a lock to go stale.
    ageLock(this.data)
  }

  wipe(part: Part): void {
    const directory = this.directoryOf(part)
    for (const name of readdirSync(directory)) {
      rmSync(join(directory, name), { recursive: true, force: true })
    }
  }

  directoryOf(part: Part): string {
    return part === 'service' ? this.data : join(this.#directory, 'nats')
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
    return join(this.#directory, 'filler')
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

const DISK_BYTES = 2 ** 30
