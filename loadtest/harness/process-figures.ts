/**
 * What the system says of a process; Linux alone says it.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Files, sockets and whatever else it has open. */
export function openDescriptorCount(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Connections that the process which listens at `url` still has, whatever their clients think. */
export function heldConnectionCount(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  return lines.filter((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    return local.endsWith(`:${port}`) && state !== LISTENING && inode !== NOBODY
  }).length
}

const LISTENING = '0A'

/** Of a connection that its process has closed, while the system still sends what is left. */
const NOBODY = '0'
