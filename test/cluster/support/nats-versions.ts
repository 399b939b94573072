/**
 * The nats-servers that test/install-tools.sh unpacks: the oldest one that Debian has and that can be used, and a recent one.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Test } from 'tap'

const SERVERS = ['2.10.27', '2.15.1'].map(
  (version) => `/var/cache/hickory-tests/nats-server-${version}/usr/sbin/nats-server`,
)

/** One of them alone may be chosen. The recent one is gone from Debian when a later one comes. */
export const NATS_SERVER =
  process.env.HICKORY_NATS_SERVER ??
  SERVERS.findLast((server) => existsSync(server)) ??
  'nats-server'

/** Runs a test with each of them, and says which is not there. */
export function withEachNats(t: Test, test: (t: Test, server: string) => Promise<void>): void {
  const chosen = process.env.HICKORY_NATS_SERVER
  for (const server of chosen === undefined ? SERVERS : [chosen]) {
    if (!existsSync(server)) {
      t.comment(`note: without ${server}, which is not there`)
      continue
    }
    const version = execFileSync(server, ['--version'], { encoding: 'utf8' }).trim()
    t.test(version.replace(': v', ' '), (t) => test(t, server))
  }
}
