/**
 * Real proxies in front of services, with the configurations of data/system/proxy. Only addresses and paths
 * are those of the test.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Certificate } from './certificates.js'
import { freePort } from './free-port.js'
import { type Owner, temporaryDirectory } from './hickory.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

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
  const site = replaced('nginx.conf', [
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
  await run(t, 'nginx', ['-e', 'stderr', '-p', directory, '-c', file], port)
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
  const config = replaced('haproxy.cfg', [
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
  await run(t, 'haproxy', ['-db', '-f', file], port)
  return {
    port,
    async use(which) {
      for (const color of ['blue', 'green']) {
        const state = which === 'both' || which === color ? 'ready' : 'drain'
        const answer = await tell(commands, `set server hickory_reads/${color} state ${state}`)
        // It says nothing where all is well.
        if (answer !== '') throw new Error(answer)
      }
    },
    async until(which, state) {
      const wanted = state === 'ready' ? /^(UP|DRAIN)$/ : /^DOWN/
      const deadlineMs = performance.now() + 30_000
      while (!wanted.test(await stateOf(commands, which))) {
        if (performance.now() > deadlineMs) throw new Error(`${which} does not get ${state}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  }
}

/** Such as `UP`; with a fraction behind it while checks may change it. */
async function stateOf(path: string, color: Color): Promise<string> {
  const [heads = '', ...lines] = (await tell(path, 'show stat')).split('\n')
  const line = lines.find((line) => line.startsWith(`hickory_reads,${color},`))
  return line?.split(',')[heads.split(',').indexOf('status')] ?? ''
}

async function tell(path: string, text: string): Promise<string> {
  const socket = connect(path)
  socket.end(`${text}\n`)
  let answer = ''
  for await (const piece of socket) answer += piece
  return answer.trim()
}

/** A file of data/system/proxy with other texts, each of which must be there. */
function replaced(
  name: string,
  texts: readonly (readonly [from: string | RegExp, to: string])[],
): string {
  let text = readFileSync(join(root, 'data/system/proxy', name), 'utf8')
  for (const [from, to] of texts) {
    const changed = text.replace(from, to)
    if (changed === text) throw new Error(`${name} has no ${from}`)
    text = changed
  }
  return text
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
