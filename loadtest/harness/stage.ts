/**
 * Sets the stage of a load run: the data, the servers, and what they are asked.
 *
 * @module
 */
import { fileURLToPath } from 'node:url'
import type { Polygon } from 'geojson'
import { type Rows, readRows } from '../../test/oracle/counties.js'
import type { LoadOptions } from '../options.js'
import { drawnPolygons } from '../requests/drawn.js'
import { areaFeature, type Selection } from '../requests/requests.js'
import type { PeerName, Stage } from '../scenarios/scenario.js'
import { askAll, type KnownRequest, verifyAnswers, waitUntilReady } from './answers.js'
import { cliPath, type Dataset, prepareDataset } from './dataset.js'
import { createOracle } from './oracle.js'
import { type ServerProcess, startServer } from './processes.js'

/** What all scenarios share. */
export type SharedStage = Omit<Stage, 'startService' | 'startPeer'>

/** Shapes that are counted, and how many of these are listed as well and verified. */
export const SHAPE_COUNT = 2_048
export const VERIFIED_SHAPE_COUNT = 128

/** Servers that were started for some time, to be stopped together. */
export interface Servers {
  start(name: string, args: readonly string[]): Promise<ServerProcess>
  stop(): Promise<void>
}

export function createServers(signal: AbortSignal): Servers {
  const started: ServerProcess[] = []
  return {
    async start(name, args) {
      const server = await startServer(name, args, signal)
      started.push(server)
      return server
    },
    async stop() {
      await Promise.all(started.splice(0).map((server) => server.stop()))
    },
  }
}

/** @throws when an answer of the service is not what brute force says */
export async function prepareStage(
  servers: Servers,
  options: LoadOptions,
  signal: AbortSignal,
): Promise<SharedStage> {
  const dataset = await prepareDataset(options, signal)
  const echo = await servers.start('echo', [peerPath('echo')])
  const service = await startReadyService(servers, dataset, [], signal)
  const rows = await readRows([dataset.csvPath])
  const shapes = drawnPolygons(rows, SHAPE_COUNT, options.seed)
  const known = await askAndVerify(service, rows, shapes, VERIFIED_SHAPE_COUNT, signal)
  return { service, echo, ...known, options, signal, dataset, rows }
}

/**
 * Counts of all shapes, and lists of the first ones, of which both are held against brute force.
 *
 * @throws when an answer is not what that says
 */
export async function askAndVerify(
  { url }: ServerProcess,
  rows: Rows,
  shapes: readonly Polygon[],
  verifiedCount: number,
  signal: AbortSignal,
): Promise<{ counts: KnownRequest[]; lists: KnownRequest[] }> {
  const toCount = shapes.map((shape) => selectionOf(shape, true))
  const toList = shapes.slice(0, verifiedCount).map((shape) => selectionOf(shape, false))
  const counts = await askAll(url, toCount, signal)
  const lists = await askAll(url, toList, signal)
  const oracle = createOracle(rows)
  verifyAnswers(oracle, toCount.slice(0, verifiedCount), counts)
  verifyAnswers(oracle, toList, lists)
  return { counts, lists }
}

/** The stage of one scenario; what it starts is among `servers`. */
export function stageFor(shared: SharedStage, servers: Servers): Stage {
  const { dataset, signal } = shared
  return {
    ...shared,
    startService: (flags = [], dataDirectory = dataset.dataDirectory) =>
      startReadyService(servers, { ...dataset, dataDirectory }, flags, signal),
    startPeer: (name, args = []) =>
      servers.start(name, [peerPath(name), ...ownArgsOf(name, dataset), ...args]),
  }
}

async function startReadyService(
  servers: Servers,
  { dataDirectory }: Dataset,
  flags: readonly string[],
  signal: AbortSignal,
): Promise<ServerProcess> {
  const args = ['serve', '--data', dataDirectory, '--port', '0', ...flags]
  const service = await servers.start('service', [cliPath, ...args])
  // One that speaks TLS prints its address when it is ready, and shows a certificate of nobody.
  if (!service.url.startsWith('https:')) await waitUntilReady(service.url, signal)
  return service
}

function peerPath(name: PeerName): string {
  return fileURLToPath(peerUrls[name])
}

const peerUrls: Readonly<Record<PeerName, URL>> = {
  naive: new URL('../peers/naive.js', import.meta.url),
  'ready-buffer': new URL('../peers/ready-buffer.js', import.meta.url),
  echo: new URL('../peers/echo.js', import.meta.url),
}

function ownArgsOf(name: PeerName, { csvPath }: Dataset): string[] {
  return name === 'naive' ? ['--csv', csvPath] : []
}

function selectionOf(shape: Parameters<typeof areaFeature>[0], countsOnly: boolean): Selection {
  return { features: [areaFeature(shape)], countsOnly }
}
