/**
 * Keeps a port for one process, although each of its threads listens on it. Such a port is shared
 * (SO_REUSEPORT), so that Linux lets every process of this user listen as well. The claim is a socket with an
 * abstract name (unix(7)): it belongs to the network namespace, as ports do, and ends with its process.
 *
 * @module
 */
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { cannotListen } from './listen-fault.js'

export interface PortClaim {
  release(): void
}

/** @throws OperatorError  when another process has it */
export async function claimPort(host: string, port: number): Promise<PortClaim> {
  // Whoever connects only wants to know whether somebody is there.
  const server: Server = createServer((socket) => socket.destroy())
  server.listen(nameOf(host, port))
  try {
    await once(server, 'listening')
  } catch {
    throw await cannotListen(host, port, async () => 'EADDRINUSE')
  }
  server.unref()
  return { release: () => server.close() }
}

/**
 * For a process that shares its port, but only with others that do.
 *
 * @throws OperatorError  when another process claims it
 */
export async function refuseClaimedPort(host: string, port: number): Promise<void> {
  for (const claimed of [host, '0.0.0.0', '::']) {
    if (!(await isClaimed(nameOf(claimed, port)))) continue
    throw await cannotListen(host, port, async () => 'EADDRINUSE')
  }
}

function isClaimed(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(name, () => {
      socket.destroy()
      resolve(true)
    })
    // Nobody is there, or this system has no such names, and then no ports that are claimed either.
    socket.once('error', () => resolve(false))
  })
}

/** The system has room for 107 characters. */
function nameOf(host: string, port: number): string {
  return `\0hickory-port-${port}-${host.slice(0, 80)}`
}
