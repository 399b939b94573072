/**
 * The programs of Prometheus, run for a test alone: the service that Debian has for it is never started.
 * test/install-tools.sh installs them.
 *
 * @module
 */
import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Owner, temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const folder = new URL('../../../docs/operations/prometheus/', import.meta.url)
export const RULES = fileURLToPath(new URL('hickory.rules.yml', folder))
export const DASHBOARD = fileURLToPath(new URL('hickory-dashboard.json', folder))

export interface Told {
  readonly code: number | null
  readonly output: string
}

/** @param input  on its standard input */
export function promtool(args: readonly string[], input = ''): Told {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  if (error !== undefined) {
    throw new Error(`${error.message}: install promtool, or run sh test/install-tools.sh as root`)
  }
  return { code: status, output: stdout + stderr }
}

export interface Prometheus {
  /** Asks its API, below /api/v1. */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>
}

/** A Prometheus of its own for a test, which scrapes one target each second and goes by the rules. */
export async function startPrometheus(t: Owner, target: string): Promise<Prometheus> {
  const directory = temporaryDirectory(t)
  const port = await freePort()
  const config = join(directory, 'prometheus.yml')
  // JSON is YAML.
  const scrape = { job_name: 'hickory', static_configs: [{ targets: [target] }] }
  const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' }
  const content = { global, rule_files: [RULES], scrape_configs: [scrape] }
  writeFileSync(config, JSON.stringify(content))
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let [said, hasEnded] = ['', false]
  child.stderr.on('data', (piece) => {
    said += piece
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      hasEnded = true
      resolve()
    })
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  let isReady = false
  await until(() => {
    if (hasEnded) throw new Error(`prometheus ended: ${said}`)
    void fetch(`${url}/-/ready`).then(
      ({ status }) => {
        isReady ||= status === 200
      },
      () => {},
    )
    return isReady
  })
  return {
    async ask(path, parameters = {}) {
      const answer = await fetch(`${url}/api/v1${path}?${new URLSearchParams(parameters)}`)
      const { status, data, error } = (await answer.json()) as Record<string, unknown>
      if (status !== 'success') throw new Error(`${path}: ${error}`)
      return data
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
