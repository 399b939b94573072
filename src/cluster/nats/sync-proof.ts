/**
 * Whether the server of NATS that a machine is connected to has on its disk what it acknowledges. Unless its file says
 * `sync_interval: always`, it syncs every two minutes: after a power failure of all servers, the whole log was gone. Before
 * 2.10.23 it did not sync the log of its own agreement with that line either.
 *
 * A client is not told. The monitor of the server says it (`/varz`), and which server it is of. A server has another id
 * each time it starts, and takes no other `sync_interval` while it runs: what it has proven once is so until it ends.
 *
 * @module
 */
import { limits } from '../../limits.js'
import type { Log } from '../log/log.js'
import type { Connection } from './connection.js'

/** What a connection knows of the server at its other end. */
export interface ConnectedServer {
  readonly server_id: string
  readonly server_name: string
  readonly version: string
  /** By which it was reached; such as `10.0.0.1:4222`. */
  readonly address: string
}

/** Undefined where it is proven, and else what an operator reads. */
export type SyncDoubt = string | undefined

/**
 * @param monitors  such as `http://127.0.0.1:8222`; one of them must be of the server, unless that has its own where it was
 *     reached, at the usual port
 */
export async function syncDoubt(
  server: ConnectedServer,
  monitors: readonly string[],
): Promise<SyncDoubt> {
  const { server_name: name, version, address } = server
  if (!isSupported(version)) {
    return (
      `nats-server ${version} of ${name} does not sync what it acknowledges: Hickory needs ` +
      `${LEAST.join('.')} or later, and better 2.12.9 or 2.14.1`
    )
  }
  const faults: string[] = []
  for (const monitor of new Set([...monitors, usualMonitor(address)])) {
    const found = await monitored(monitor)
    if (typeof found === 'string') faults.push(`${monitor} ${found}`)
    else if (found.server_id !== server.server_id) {
      faults.push(`${monitor} is the monitor of ${found.server_name ?? 'another server'}`)
    } else if (found.jetstream?.config?.sync_always === true) return undefined
    else return `nats-server ${name} must have "sync_interval: always" in the block "jetstream"`
  }
  return (
    `nats-server ${name} at ${address}, to which this machine is connected, does not prove that it syncs what it ` +
    `acknowledges: ${faults.join(', ')}. Name its monitor with --nats-monitor`
  )
}

/** A server is connected to by the address that others have for its monitor, too. */
function usualMonitor(address: string): string {
  return `http://${new URL(`nats://${address}`).hostname}:8222`
}

/** Undefined while there is no connection. */
export function connectedServer({
  isUp,
  nats,
}: Pick<Connection, 'isUp' | 'nats'>): ConnectedServer | undefined {
  return isUp && nats.info !== undefined ? { ...nats.info, address: nats.getServer() } : undefined
}

/**
 * Whether a connection may write. It asks the server at the other end until that has proven that it syncs, and again at
 * each other server.
 */
export class SyncGuard {
  readonly #connection: Connection
  readonly #monitors: readonly string[]
  readonly #onChange: (doubt: SyncDoubt) => void
  readonly #stopHearing: () => void
  #timer: NodeJS.Timeout | undefined
  /** What was found out last, and about which server. */
  #found: { readonly serverId: string; readonly doubt: SyncDoubt } | undefined
  #told: SyncDoubt
  /** Of several that ask at the same time, the last one finds out. */
  #lastAsked = 0

  /** @param onChange  of the doubt; it may come later than the change */
  constructor(
    connection: Connection,
    monitors: readonly string[],
    onChange: (doubt: SyncDoubt) => void,
  ) {
    this.#connection = connection
    this.#monitors = monitors
    this.#onChange = onChange
    this.#told = this.doubt
    this.#stopHearing = connection.onChange(() => {
      this.#tell()
      void this.#ask()
    })
    void this.#ask()
  }

  /**
   * To be read right before each write, without anything between: the library sends what is written to this server, or to
   * none.
   */
  get doubt(): SyncDoubt {
    const server = connectedServer(this.#connection)
    if (server === undefined) return 'there is no connection to NATS'
    const { server_id: serverId, server_name: name } = server
    return serverId === this.#found?.serverId
      ? this.#found.doubt
      : `nats-server ${name} has not yet proven that it syncs what it acknowledges`
  }

  stop(): void {
    this.#lastAsked++
    this.#stopHearing()
    clearTimeout(this.#timer)
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer)
    const asked = ++this.#lastAsked
    const server = connectedServer(this.#connection)
    if (server !== undefined && this.doubt !== undefined) {
      const doubt = await syncDoubt(server, this.#monitors)
      if (asked !== this.#lastAsked) return
      this.#found = { serverId: server.server_id, doubt }
    }
    this.#tell()
    if (this.doubt === undefined) return
    this.#timer = setTimeout(() => void this.#ask(), limits.syncAskMs)
  }

  #tell(): void {
    const { doubt } = this
    if (doubt === this.#told) return
    this.#told = doubt
    this.#onChange(doubt)
  }
}

/** A log that takes nothing while the server has not proven that it syncs. */
export function provenLog(log: Log, guard: Pick<SyncGuard, 'doubt'>): Log {
  return {
    messageBytes: log.messageBytes,
    append: async (bytes) => {
      if (guard.doubt !== undefined) throw new Error(guard.doubt)
      return await log.append(bytes)
    },
    follow: (start, reader) => log.follow(start, reader),
    read: (start, end) => log.read(start, end),
    info: () => log.info(),
  }
}

/** What of `/varz` is used. */
interface Varz {
  readonly server_id?: string
  readonly server_name?: string
  readonly jetstream?: { readonly config?: { readonly sync_always?: boolean } }
}

/** Or why it says nothing. */
async function monitored(monitor: string): Promise<Varz | string> {
  try {
    const signal = AbortSignal.timeout(limits.clusterCallMs)
    const answer = await fetch(new URL('/varz', monitor), { signal })
    if (!answer.ok) return `answers ${answer.status}`
    const varz: unknown = await answer.json()
    return typeof varz === 'object' && varz !== null ? varz : 'is no monitor of NATS'
  } catch (fault) {
    const { name, cause } = fault as Error
    if (name === 'SyntaxError') return 'is no monitor of NATS'
    if (name === 'TimeoutError') return 'does not answer'
    return `cannot be reached (${(cause as NodeJS.ErrnoException | undefined)?.code ?? name})`
  }
}

const LEAST = [2, 10, 23] as const

/** A version that has no number, such as one of a build, is taken for an old one. */
function isSupported(version: string): boolean {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  if (parts.length === 0) return false
  for (const [at, least] of LEAST.entries()) {
    if (Number(parts[at]) !== least) return Number(parts[at]) > least
  }
  return true
}
