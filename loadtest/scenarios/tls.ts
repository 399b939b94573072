/**
 * What TLS costs: the same counts and lists from a service that speaks it and from one that does not, in turn.
 *
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { driveByWrk } from '../generator/wrk.js'
import { runTool, type ServerProcess } from '../harness/processes.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { areaFeature } from '../requests/requests.js'
import type { Finding, Scenario, Stage } from './scenario.js'

export const tls: Scenario = {
  name: 'tls',
  summary: 'what does TLS cost, in counts and in bytes of lists, relative to plain HTTP?',
  run: async (stage): Promise<Finding> => {
    const directory = await mkdtemp(join(tmpdir(), 'hickory-loadtest-tls-'))
    try {
      const plain = await stage.startService()
      const spoken = await stage.startService(await makeCertificate(directory, stage.signal))
      const rounds: Round[] = []
      for (let i = 0; i < ROUND_COUNT; i++) {
        rounds.push({ plain: await measure(stage, plain), tls: await measure(stage, spoken) })
      }
      return findingOf(rounds)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
}

/** In turn, so that whatever else runs on the machine is in both. */
const ROUND_COUNT = 3

interface Figures {
  readonly countsPerSecond: number
  readonly p99Ms: number
  readonly listMegabytesPerSecond: number
  readonly connectionsPerSecond: number
  readonly failedCount: number
}

interface Round {
  readonly plain: Figures
  readonly tls: Figures
}

/** @returns the flags with which a service shows it */
async function makeCertificate(directory: string, signal: AbortSignal): Promise<string[]> {
  const [certificate, key] = [join(directory, 'service.pem'), join(directory, 'service.key')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-keyout', key, '-out', certificate]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await runTool('openssl', ['req', '-x509', ...curve, ...subject], signal)
  return ['--tls-cert', certificate, '--tls-key', key]
}

async function measure(stage: Stage, { url, pid, failure }: ServerProcess): Promise<Figures> {
  const { counts, options, signal } = stage
  const { connectionCount, warmUpSeconds, measuredSeconds: seconds } = options
  const bodies = counts.map(({ body }) => body)
  const plan = { url, pid, bodies, connectionCount, warmUpSeconds, seconds, signal }
  const driven = await Promise.race([driveByWrk(plan), failure])
  return {
    countsPerSecond: driven.perSecond,
    p99Ms: driven.p99Ms,
    failedCount: driven.failedCount,
    listMegabytesPerSecond: await listSpeed(url, signal),
    connectionsPerSecond: await connectionSpeed(url, signal),
  }
}

/** Of everybody, to curl, which throws the bytes away. */
async function listSpeed(url: string, signal: AbortSignal): Promise<number> {
  const corners = [
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
    [-180, -90],
  ]
  const features = [areaFeature({ type: 'Polygon', coordinates: [corners] })]
  const body = JSON.stringify({ geoJSON: { type: 'FeatureCollection', features } })
  const sent = ['-H', 'Content-Type: application/json', '-d', body]
  const printed = ['-o', '/dev/null', '-w', '%{size_download} %{time_total}\n']
  const each = [...printed, ...sent, `${url}/api/recipients`]
  const lists = await curl(each, LIST_COUNT, signal)
  const bytes = lists.reduce((sum, [size]) => sum + size, 0)
  return bytes / lists.reduce((sum, [, seconds]) => sum + seconds, 0) / 1e6
}

/** Each from the first packet to an answer, one after the other, as a client that keeps none. */
async function connectionSpeed(url: string, signal: AbortSignal): Promise<number> {
  const printed = ['-o', '/dev/null', '-w', '%{time_total}\n']
  // curl keeps connections otherwise.
  const each = [...printed, '-H', 'Connection: close', `${url}/livez`]
  const answers = await curl(each, CONNECTION_COUNT, signal)
  return answers.length / answers.reduce((sum, [seconds]) => sum + seconds, 0)
}

/** Runs curl once for so many requests, and reads a line of numbers for each. */
async function curl(each: readonly string[], count: number, signal: AbortSignal) {
  const args = Array.from({ length: count }, () => ['--next', '-sk', ...each]).flat()
  const output = await runTool('curl', args.slice(1), signal)
  return output
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
}

const LIST_COUNT = 5
const CONNECTION_COUNT = 200

function findingOf(rounds: readonly Round[]): Finding {
  const names = ['countsPerSecond', 'listMegabytesPerSecond', 'connectionsPerSecond'] as const
  const ratioOf = (name: (typeof names)[number]) =>
    median(rounds.map(({ plain, tls }) => tls[name] / plain[name]))
  const rowsOf = (name: 'plain' | 'tls') =>
    rounds.map((round) => {
      const figures = round[name]
      return [
        name,
        formatCount(figures.countsPerSecond),
        formatFigure(figures.p99Ms),
        formatCount(figures.listMegabytesPerSecond),
        formatCount(figures.connectionsPerSecond),
      ]
    })
  const failedCount = rounds.reduce(
    (sum, { plain, tls }) => sum + plain.failedCount + tls.failedCount,
    0,
  )
  return {
    table: {
      title: 'counts by wrk, a list of everybody by curl, new connections by curl; in turn',
      header: ['', 'counts/s', 'p99 ms', 'list MB/s', 'connections/s'],
      rows: [
        ...rowsOf('plain'),
        ...rowsOf('tls'),
        ['tls to plain', ...names.map((name) => formatFigure(ratioOf(name))).toSpliced(1, 0, '')],
      ],
    },
    figures: {
      tlsCountRatio: ratioOf('countsPerSecond'),
      tlsListRatio: ratioOf('listMegabytesPerSecond'),
      tlsConnectionRatio: ratioOf('connectionsPerSecond'),
      tlsCountsPerSecond: median(rounds.map(({ tls }) => tls.countsPerSecond)),
      tlsListMegabytesPerSecond: median(rounds.map(({ tls }) => tls.listMegabytesPerSecond)),
    },
    faults: failedCount === 0 ? [] : [`${formatCount(failedCount)} requests failed`],
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
