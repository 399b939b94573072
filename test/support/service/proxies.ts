/**
 * Real proxies in front of a service, with the configurations of docs/operations/proxy. Only addresses and
 * paths are those of the test.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Certificate } from './certificates.js'
import { type Owner, temporaryDirectory } from './hickory.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

export interface ProxyOptions {
  readonly servicePort: number
  /** What the proxy shows. */
  readonly certificate: Certificate
  /** Whether it says for whom it asks, as documented. Default true. */
  readonly tellsClients?: boolean
}

/** Starts a proxy; ended with the test. @returns the port where it speaks TLS */
export type StartProxy = (t: Owner, options: ProxyOptions) => Promise<number>

export const proxies: Readonly<Record<'nginx' | 'HAProxy', StartProxy>> = {
  nginx: startNginx,
  HAProxy: startHaproxy,
}

async function startNginx(
  t: Owner,
  { servicePort, certificate, tellsClients = true }: ProxyOptions,
): Promise<number> {
  const directory = temporaryDirectory(t)
  const port = await freePort()
  const site = replaced('nginx.conf', [
    ['server 127.0.0.1:8080;', `server 127.0.0.1:${servicePort};`],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['/etc/hickory/proxy.pem', certificate.certificate],
    ['/etc/hickory/proxy.key', certificate.key],
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
  await run(t, 'nginx', ['-e', 'stderr', '-p', directory, '-c', file], port)
  return port
}

async function startHaproxy(
  t: Owner,
  { servicePort, certificate, tellsClients = true }: ProxyOptions,
): Promise<number> {
  const directory = temporaryDirectory(t)
  const port = await freePort()
  const both = join(directory, 'both.pem')
  const parts = [certificate.certificate, certificate.key].map((path) => readFileSync(path))
  writeFileSync(both, Buffer.concat(parts), { mode: 0o600 })
  const config = replaced('haproxy.cfg', [
    ['127.0.0.1:8080', `127.0.0.1:${servicePort}`],
    ['bind :443', `bind 127.0.0.1:${port}`],
    ['/etc/hickory/proxy.pem', both],
    ...(tellsClients ? [] : ([[/.*option forwardfor\n/, '']] as const)),
  ])
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, config)
  await run(t, 'haproxy', ['-db', '-f', file], port)
  return port
}

/** A file of docs/operations/proxy with other texts, each of which must be there. */
function replaced(
  name: string,
  texts: readonly (readonly [from: string | RegExp, to: string])[],
): string {
  let text = readFileSync(join(root, 'docs/operations/proxy', name), 'utf8')
  for (const [from, to] of texts) {
    if (text.search(from instanceof RegExp ? from : escaped(from)) < 0) {
      throw new Error(`${name} has no ${from}`)
    }
    text = text.replace(from, to)
  }
  return text
}

function escaped(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
}

/** Resolves when the port is listened on. */
async function run(t: Owner, command: string, args: string[], port: number): Promise<void> {
  // Where Debian has servers, and only root looks by itself.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  t.teardown(() => child.kill('SIGTERM'))
  let written = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      written += text
    })
  }
  let end: string | undefined
  child.once('error', (error) => {
    end = error.message
  })
  child.once('exit', (code) => {
    end = `it ended with ${code}`
  })
  const deadlineMs = performance.now() + 10_000
  while (!(await isListenedOn(port))) {
    if (end !== undefined || performance.now() > deadlineMs) {
      throw new Error(`${command} does not start: ${end ?? 'nobody listens'}: ${written}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function isListenedOn(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
