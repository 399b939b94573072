/**
 * What keys, an audit and metrics cost: the same counts by wrk, of services that differ in nothing else,
 * in turn, there and back, so that a machine that slows down meanwhile favours none.
 *
 * @module
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { driveByWrk, type WrkFigures } from '../generator/wrk.js'
import { cliPath } from '../harness/dataset.js'
import { runTool, type ServerProcess } from '../harness/processes.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Finding, Scenario, Stage } from './scenario.js'

/** The first one is what the others are compared with. */
const VARIANTS = ['open', 'keys', 'keys, audit, metrics', 'and access log'] as const

interface Variant {
  readonly name: (typeof VARIANTS)[number]
  readonly server: ServerProcess
  /** Sent to all of them, so that the generator does the same work. */
  readonly authorization: string
  /** Asked every second, as Prometheus does at its most eager. */
  readonly metricsUrl: string | undefined
}

export const guarded: Scenario = {
  name: 'guarded',
  summary: 'what do keys, an audit, metrics and an access log cost a count?',
  run: async (stage): Promise<Finding> => {
    const directory = mkdtempSync(join(tmpdir(), 'hickory-loadtest-guarded-'))
    try {
      const variants = await startAll(stage, directory)
      const passes = new Map<string, WrkFigures[]>(VARIANTS.map((name) => [name, []]))
      for (const variant of [...variants, ...variants.toReversed()]) {
        passes.get(variant.name)?.push(await drive(stage, variant))
      }
      return findingOf(passes)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
}

async function startAll(stage: Stage, directory: string): Promise<Variant[]> {
  const data = join(directory, 'data')
  // Of its own: where there are keys, no service starts without a word on them.
  cpSync(stage.dataset.dataDirectory, data, { recursive: true })
  const key = await makeKey(data, stage.signal)
  const adminPorts = [await freePort(), await freePort()]
  const flagsOf = (at: number) => [
    ...['--keys', '--audit', join(directory, `audit-${at}`)],
    ...['--admin-port', String(adminPorts[at])],
  ]
  const flags: Readonly<Record<(typeof VARIANTS)[number], readonly string[]>> = {
    open: ['--open'],
    keys: ['--keys'],
    'keys, audit, metrics': flagsOf(0),
    'and access log': [...flagsOf(1), '--access-log', join(directory, 'access.log')],
  }
  const variants: Variant[] = []
  for (const [at, name] of VARIANTS.entries()) {
    variants.push({
      name,
      server: await stage.startService(flags[name], data),
      authorization: `Bearer ${key}`,
      metricsUrl: at < 2 ? undefined : `http://127.0.0.1:${adminPorts[at - 2]}/metrics`,
    })
  }
  return variants
}

async function makeKey(data: string, signal: AbortSignal): Promise<string> {
  const wish = ['--name', 'load', '--scopes', 'counts', '--data', data]
  return (await runTool(process.execPath, [cliPath, 'keys', 'create', ...wish], signal)).trim()
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

async function drive(
  { counts, options, signal }: Stage,
  { server, authorization, metricsUrl }: Variant,
): Promise<WrkFigures> {
  const { connectionCount, warmUpSeconds, measuredSeconds: seconds } = options
  const { url, pid, failure } = server
  const bodies = counts.map(({ body }) => body)
  const usual = { url, pid, bodies, connectionCount, warmUpSeconds, seconds, signal }
  const plan = { ...usual, authorization }
  const over = new AbortController()
  const scraping = metricsUrl === undefined ? undefined : scrape(metricsUrl, over.signal)
  try {
    return await Promise.race([driveByWrk(plan), failure])
  } finally {
    over.abort()
    await scraping
  }
}

async function scrape(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await fetch(url)
    await response.text()
    if (!response.ok) throw new Error(`${url} answers ${response.status}`)
    await sleep(1_000, undefined, { signal }).catch(() => {})
  }
}

function findingOf(passes: ReadonlyMap<string, readonly WrkFigures[]>): Finding {
  const [open] = VARIANTS
  const mean = (name: string, of: (figures: WrkFigures) => number) => {
    const each = passes.get(name) ?? []
    return each.reduce((sum, figures) => sum + of(figures), 0) / each.length
  }
  const rate = (name: string) => mean(name, ({ perSecond }) => perSecond)
  const frontMicros = (name: string) =>
    mean(name, ({ processor }) => processor?.frontMicroseconds ?? Number.NaN)
  const rows = VARIANTS.map((name) => [
    name,
    formatCount(rate(name)),
    formatFigure(rate(name) / rate(open)),
    formatFigure(frontMicros(name)),
    formatFigure(frontMicros(name) / frontMicros(open)),
    ...[mean(name, ({ p50Ms }) => p50Ms), mean(name, ({ p99Ms }) => p99Ms)].map(formatFigure),
  ])
  const faults = VARIANTS.flatMap((name) => {
    const failed = (passes.get(name) ?? []).filter(
      ({ failedCount, answeredCount }) => answeredCount === 0 || failedCount > answeredCount / 2,
    )
    return failed.length === 0 ? [] : [`${name}: most requests failed`]
  })
  const figures = Object.fromEntries(
    VARIANTS.slice(1).flatMap((name) => {
      const prefix = name.replace(/,? (\w)/g, (_, letter: string) => letter.toUpperCase())
      return [
        [`${prefix}RateToOpenRatio`, rate(name) / rate(open)],
        [`${prefix}FrontCostToOpenRatio`, frontMicros(name) / frontMicros(open)],
      ]
    }),
  )
  return {
    table: {
      title: 'the same counts by wrk, of four services in turn, there and back',
      header: ['', 'requests/s', 'to open', 'front µs', 'to open', 'p50 ms', 'p99 ms'],
      rows,
    },
    figures: { openPerSecond: rate(open), ...figures },
    faults,
  }
}
