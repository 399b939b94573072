/**
 * The nats-servers of this machine: the one that is installed, and a newer one that test/install-tools.sh unpacks where
 * that can be had.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Test } from 'tap'

/** One of them alone may be chosen. */
export const NATS_SERVER = process.env.HICKORY_NATS_SERVER ?? 'nats-server'

const NEWER = '/var/cache/hickory-tests/nats-server-2.10.27/usr/sbin/nats-server'

/** Runs a test with each of them, and says so where there is only one. */
export function withEachNats(t: Test, test: (t: Test, server: string) => Promise<void>): void {
  const servers = [NATS_SERVER]
  if (process.env.HICKORY_NATS_SERVER === undefined) {
    if (existsSync(NEWER)) servers.push(NEWER)
    else t.comment(`note: with ${versionOf(NATS_SERVER)} alone, since there is no ${NEWER}`)
  }
  for (const server of servers) t.test(versionOf(server), (t) => test(t, server))
}

function versionOf(server: string): string {
  // Where Debian has servers, and only root looks by itself.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  return execFileSync(server, ['--version'], { env, encoding: 'utf8' }).trim().replace(': v', ' ')
}
