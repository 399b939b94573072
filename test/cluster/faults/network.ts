/**
 * A network of its own for each site, so that it can be cut off: a namespace with one interface on a common bridge. Needs
 * root. Names have the id of this process in them; whatever a process that died has left goes away first. Where this
 * cannot be had, sites have ports of the machine.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { freePort } from '../../support/service/free-port.js'
import type { Owner } from '../../support/service/hickory.js'

export type Cut = 'both' | 'in' | 'out'

export interface SiteNetwork {
  readonly address: string
  readonly ports: SitePorts
  /** Whether the site can be cut off, and has a disk of its own. */
  readonly isOwn: boolean
  /** A command and its arguments, to be run there. */
  within(words: readonly string[]): readonly string[]
  /** Nothing comes in, or goes out, or both. */
  cut(what: Cut): void
  /** All that goes out and in takes its time, with 1 Mbit/s. */
  slow(): void
  heal(): void
}

interface SitePorts {
  readonly client: number
  readonly route: number
  readonly http: number
  /** Of NATS. */
  readonly monitor: number
}

/** In a network of its own. */
const PORTS: SitePorts = { client: 4222, route: 6222, http: 8080, monitor: 8222 }

/** @returns undefined where this machine does not let this process make networks, and cut them off */
export function networksIfAllowed(
  owner: Owner,
  names: readonly string[],
): readonly SiteNetwork[] | undefined {
  const ends: (() => unknown)[] = []
  try {
    const networks = makeNetwork({ teardown: (end) => void ends.push(end) }, names)
    for (const network of networks) {
      network.cut('both')
      network.heal()
    }
    for (const end of ends) owner.teardown(end)
    return networks
  } catch {
    for (const end of ends) end()
    return undefined
  }
}

/** All on this machine, where none can be cut off. */
export async function sharedNetwork(names: readonly string[]): Promise<readonly SiteNetwork[]> {
  const networks: SiteNetwork[] = []
  for (const _ of names) {
    networks.push({
      address: '127.0.0.1',
      ports: {
        client: await freePort(),
        route: await freePort(),
        http: await freePort(),
        monitor: await freePort(),
      },
      isOwn: false,
      within: (words) => words,
      cut: refuse,
      slow: refuse,
      heal() {},
    })
  }
  return networks
}

function refuse(): never {
  throw new Error('only a site with a network of its own can be cut off')
}

const PREFIX = 'hk'
/** Nobody else's, since it is for tests (RFC 2544); another run at the same time has another one. */
const NETWORK = `198.18.${process.pid % 256}`

/** @param names  single letters */
function makeNetwork(owner: Owner, names: readonly string[]): SiteNetwork[] {
  removeRemains()
  const id = `${PREFIX}${process.pid}`
  const bridge = `${id}z`
  const sites = names.map((name, at) => ({
    namespace: id + name,
    outer: `${id}${name}o`,
    address: `${NETWORK}.${at + 1}`,
  }))
  owner.teardown(() => remove(id))
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${NETWORK}.254/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  for (const { namespace, outer, address } of sites) {
    ip('netns', 'add', namespace)
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    ip('link', 'set', outer, 'master', bridge, 'up')
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
  }
  return sites.map(({ namespace, outer, address }) => {
    const inner = (...args: string[]) => queue(['-n', namespace], 'eth0', args)
    const outside = (...args: string[]) => queue([], outer, args)
    return {
      address,
      ports: PORTS,
      isOwn: true,
      within: (words) => ['ip', 'netns', 'exec', namespace, ...words],
      cut(what) {
        if (what !== 'in') inner(...NOTHING)
        if (what !== 'out') outside(...NOTHING)
      },
      slow() {
        inner(...SLOW)
        outside(...SLOW)
      },
      heal() {
        inner()
        outside()
      },
    }
  })
}

/** Packets are larger than what may pass at once, so that none does. Kernels without netem have this, too. */
const NOTHING = ['tbf', 'rate', '8bit', 'burst', '10b', 'limit', '10b']
const SLOW = ['tbf', 'rate', '1mbit', 'burst', '16kb', 'latency', '200ms']

/** @param discipline  of what leaves an interface; none is the usual one */
function queue(where: readonly string[], device: string, discipline: readonly string[]): void {
  spawnSync('tc', [...where, 'qdisc', 'del', 'dev', device, 'root'])
  if (discipline.length === 0) return
  execFileSync('tc', [...where, 'qdisc', 'add', 'dev', device, 'root', ...discipline])
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr} (it needs root)`)
}

/** What goes with a namespace goes with it: its interface, and the other end of that. */
function remove(id: string): void {
  for (const name of namespaces().filter((one) => one.startsWith(id))) {
    const pids = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' })
    for (const pid of pids.split('\n').filter(Boolean)) kill(Number(pid))
    spawnSync('ip', ['netns', 'del', name])
  }
  spawnSync('ip', ['link', 'del', `${id}z`])
}

/** A bridge may be there although its namespaces are gone. */
function removeRemains(): void {
  const ids = [...namespaces(), ...readdirSync('/sys/class/net')].flatMap(
    (name) => /^(hk\d+)[a-z]$/.exec(name)?.slice(1) ?? [],
  )
  for (const id of new Set(ids)) {
    if (!existsSync(`/proc/${id.slice(PREFIX.length)}`)) remove(id)
  }
}

function namespaces(): string[] {
  const text = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })
  return text.split('\n').map((line) => line.split(' ')[0])
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
