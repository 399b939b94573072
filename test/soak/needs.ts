/**
 * What an area needs of the machine beyond `npm ci`.
 *
 * @module
 */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { NATS_SERVER } from '../cluster/support/nats-versions.js'

/** The user, and the commands that make what is needed, by the name of what test/install-tools.sh installs. */
const commandsOf = {
  root: undefined,
  strace: 'strace',
  'nats-server': NATS_SERVER,
  iproute2: 'tc',
  nginx: 'nginx',
  haproxy: 'haproxy',
  postgresql: 'pg_lsclusters',
} as const

export type Need = keyof typeof commandsOf

export function isThere(need: Need): boolean {
  const command = commandsOf[need]
  if (command === undefined) return process.getuid?.() === 0
  // Where Debian has servers, and only root looks by itself.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  return (command.includes('/') ? [''] : folders).some((folder) => canRun(join(folder, command)))
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
