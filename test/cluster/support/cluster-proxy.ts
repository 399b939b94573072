/**
 * HAProxy in front of three machines, with the file that packages install.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from '../../support/service/certificates.js'
import { freePort } from '../../support/service/free-port.js'
import { stateInHaproxy } from '../../support/service/haproxy-commands.js'
import { type Owner, temporaryDirectory } from '../../support/service/hickory.js'
import { startProgram } from '../../support/service/program.js'
import { systemFile } from '../../support/service/system-file.js'
import { untilTold } from '../../support/service/until.js'

export const SITES = ['site-a', 'site-b', 'site-c'] as const
export type Site = (typeof SITES)[number]

interface ProxyOptions {
  readonly ports: Readonly<Record<Site, number>>
  /** What the proxy shows. */
  readonly certificate: Certificate
  /** Whether machines that are not ready are asked when none is. Default true. */
  readonly asksLate?: boolean
  /** Whether it says for whom it asks. Default true. */
  readonly tellsClients?: boolean
}

export interface ClusterProxy {
  /** Where it speaks TLS. */
  readonly port: number
  /** Resolves when it knows whether a machine is ready. */
  until(site: Site, state: 'ready' | 'unready'): Promise<void>
}

/** Starts a proxy; ended with the test. */
export async function startClusterProxy(
  t: Owner,
  { ports, certificate, asksLate = true, tellsClients = true }: ProxyOptions,
): Promise<ClusterProxy> {
  const directory = temporaryDirectory(t)
  const port = await freePort()
  const both = join(directory, 'both.pem')
  const parts = [certificate.certificate, certificate.key].map((path) => readFileSync(path))
  writeFileSync(both, Buffer.concat(parts), { mode: 0o600 })
  const commands = join(directory, 'admin.sock')
  const config = systemFile('proxy/haproxy-cluster.cfg', [
    [/10\.0\.0\.1:8080/g, `127.0.0.1:${ports['site-a']}`],
    [/10\.0\.0\.2:8080/g, `127.0.0.1:${ports['site-b']}`],
    [/10\.0\.0\.3:8080/g, `127.0.0.1:${ports['site-c']}`],
    ['bind :443', `bind 127.0.0.1:${port}`],
    ['/etc/hickory/proxy.pem', both],
    ['/run/haproxy/admin.sock', commands],
    [/ {2}user haproxy\n {2}group haproxy\n/, ''],
    // As the file says.
    ...(asksLate ? [] : ([[/.*-late .*\n/g, '']] as const)),
    ...(tellsClients ? [] : ([[/.*option forwardfor\n/, '']] as const)),
  ])
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, config)
  await startProgram(t, 'haproxy', ['-db', '-f', file], port)
  return {
    port,
    async until(site, state) {
      const wanted = state === 'ready' ? /^UP$/ : /^DOWN/
      await untilTold(async () =>
        wanted.test(await stateInHaproxy(commands, 'hickory_reads', site)),
      )
    },
  }
}
