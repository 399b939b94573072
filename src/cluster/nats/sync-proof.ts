/**
 * Whether the server of NATS that a machine is connected to has on its disk what it acknowledges. Unless its file says
 * `sync_interval: always`, it syncs every two minutes: after a power failure of all servers, the whole log was gone. Before
 * 2.10.23 it did not sync the log of its own agreement with that line either.
 *
 * A client is not told. It asks again at each connection, and for its own server alone. The monitor of the server says it (`/varz`), and which server it is of.
 *
 * @module
 */
import { limits } from '../../limits.js'

/** What a connection knows of the server at its other end. */
export interface ConnectedServer {
  readonly server_id: string
  readonly server_name: string
  readonly version: string
}

/** Undefined where it is proven, and else what an operator reads. */
export type SyncDoubt = string | undefined

/**
 * @param monitors  such as `http://127.0.0.1:8222`; one of them must be of the server
 */
export async function syncDoubt(
  server: ConnectedServer,
  monitors: readonly string[],
): Promise<SyncDoubt> {
  const { server_name: name, version } = server
  if (!isSupported(version)) {
    return (
      `nats-server ${version} of ${name} does not sync what it acknowledges: Hickory needs ` +
      `${LEAST.join('.')} or later, and better 2.12.9 or 2.14.1`
    )
  }
  const faults: string[] = []
  for (const monitor of monitors) {
    const found = await monitored(monitor)
    if (typeof found === 'string') faults.push(`${monitor} ${found}`)
    else if (found.server_id !== server.server_id) {
      faults.push(`${monitor} is the monitor of ${found.server_name ?? 'another server'}`)
    } else if (found.jetstream?.config?.sync_always === true) return undefined
    else return `nats-server ${name} must have "sync_interval: always" in the block "jetstream"`
  }
  return (
    `nats-server ${name} does not prove that it syncs what it acknowledges: ` +
    `${faults.join(', ') || 'it has no monitor'}. Name its monitor with --nats-monitor`
  )
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
