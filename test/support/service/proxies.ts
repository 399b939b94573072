/**
 * Real proxies in front of services, with the configurations of data/system/proxy. Only addresses and paths
 * are those of the test.
 *
 * @module
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from './certificates.js'
import { freePort } from './free-port.js'
import { stateInHaproxy, tellHaproxy } from './haproxy-commands.js'
import { type Owner, temporaryDirectory } from './hickory.js'
import { startProgram } from './program.js'
import { systemFile } from './system-file.js'

export type Color = 'blue' | 'green'

export interface ProxyOptions {
  readonly ports: Readonly<Record<Color, number>>
  /** What the proxy shows. */
  readonly certificate: Certificate
  /** Whether it says for whom it asks, as documented. Default true. */
  readonly tellsClients?: boolean
}

export interface RunningProxy {
  /** Where it speaks TLS. */
  readonly port: number
  /** Sends requests to one service alone, or to both, as documented. */
  use(which: Color | 'both'): Promise<void>
  /** Resolves when it knows whether a service is ready; at once where it does not ask. */
  until(which: Color, state: 'ready' | 'unready'): Promise<void>
}

/** Starts a proxy; ended with the test. */
export type StartProxy = (t: Owner, options: ProxyOptions) => Promise<RunningProxy>

export const proxies: Readonly<Record<'nginx' | 'HAProxy', StartProxy>> = {
  nginx: startNginx,
  HAProxy: startHaproxy,
}

async function startNginx(
  t: Owner,
  { ports, certificate, tellsClients = true }: ProxyOptions,
): Promise<RunningProxy> {
  const directory = temporaryDirectory(t)
  const port = await freePort()
  const site = systemFile('proxy/nginx.conf', [
    [/127\.0\.0\.1:8080/g, `127.0.0.1:${ports.blue}`],
    [/127\.0\.0\.1:8081/g, `127.0.0.1:${ports.green}`],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['/etc/hickory/proxy.pem', certificate.certificate],
    ['/etc/hickory/proxy.key', certificate.key],
    [/\/etc\/nginx\//g, `${directory}/`],
    ...(tellsClients ? [] : ([[/.*X-Forwarded-For.*\n/, '']] as const)),
  ])
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${join(directory, name)};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const main = `${user}
daemon off;
pid ${join(directory, 'pid')};
error_log stderr warn;
events {}
http {
  access_log off;
${paths.join('\n')}
${site}
}
`
  const file = join(directory, 'nginx.conf')
  writeFileSync(file, main)
  await startProgram(t, 'nginx', ['-e', 'stderr', '-p', directory, '-c', file], port)
  return {
    port,
    async use(which) {
      for (const color of ['blue', 'green']) {
        const flag = join(directory, `hickory-${color}`)
        if (color === which) writeFileSync(flag, '')
        else rmSync(flag, { force: true })
      }
    },
    async until() {},
  }
}

async function startHaproxy(
  t: Owner,
  { ports, certificate, tellsClients = true }: ProxyOptions,
): Promise<RunningProxy> {
  const directory = temporaryDirectory(t)
  const port = await freePort()
  const both = join(directory, 'both.pem')
  const parts = [certificate.certificate, certificate.key].map((path) => readFileSync(path))
  writeFileSync(both, Buffer.concat(parts), { mode: 0o600 })
  const commands = join(directory, 'admin.sock')
  const config = systemFile('proxy/haproxy.cfg', [
    [/127\.0\.0\.1:8080/g, `127.0.0.1:${ports.blue}`],
    [/127\.0\.0\.1:8081/g, `127.0.0.1:${ports.green}`],
    ['bind :443', `bind 127.0.0.1:${port}`],
    ['/etc/hickory/proxy.pem', both],
    ['/run/haproxy/admin.sock', commands],
    [/ {2}user haproxy\n {2}group haproxy\n/, ''],
    ...(tellsClients ? [] : ([[/.*option forwardfor\n/, '']] as const)),
  ])
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, config)
  await startProgram(t, 'haproxy', ['-db', '-f', file], port)
  return {
    port,
    async use(which) {
      for (const color of ['blue', 'green']) {
        const state = which === 'both' || which === color ? 'ready' : 'drain'
        const answer = await tellHaproxy(
          commands,
          `set server hickory_reads/${color} state ${state}`,
        )
        // It says nothing where all is well.
        if (answer !== '') throw new Error(answer)
      }
    },
    async until(which, state) {
      const wanted = state === 'ready' ? /^(UP|DRAIN)$/ : /^DOWN/
      const deadlineMs = performance.now() + 30_000
      while (!wanted.test(await stateInHaproxy(commands, 'hickory_reads', which))) {
        if (performance.now() > deadlineMs) throw new Error(`${which} does not get ${state}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  }
}
