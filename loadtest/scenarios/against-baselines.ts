/**
 * The same requests to the service, the echo server and the naive server, one after the other, by
 * closed loops.
 *
 * @module
 */
import { type KnownRequest, verifyPeer } from '../answers.js'
import { type DriveFigures, drive } from '../drive.js'
import { DRIVE_HEADER, driveRow } from '../drive-table.js'
import type { ServerProcess } from '../processes.js'
import { formatFigure } from '../table.js'
import type { Stage } from './scenario.js'

export interface Baselines {
  readonly echo: DriveFigures
  readonly naive: DriveFigures
}

/** Drives a server as hard as it answers, on the connections and for the time of the options. */
export function driveClosed(
  { options, signal }: Stage,
  server: ServerProcess,
  requests: readonly KnownRequest[],
  compareAnswers: boolean,
): Promise<DriveFigures> {
  const { connectionCount, warmUpSeconds, measuredSeconds } = options
  const times = { warmUpSeconds, seconds: measuredSeconds }
  const plan = { url: server.url, requests, compareAnswers, connectionCount, ...times, signal }
  return Promise.race([drive(plan), server.failure])
}

/** The naive server gives the answers of the service before it is timed, or nothing is. */
export async function driveBaselines(
  stage: Stage,
  requests: readonly KnownRequest[],
): Promise<Baselines> {
  const echo = await driveClosed(stage, stage.echo, requests, false)
  const server = await stage.startPeer('naive')
  await verifyPeer(server.url, requests.slice(0, PEER_VERIFIED_COUNT), stage.signal)
  return { echo, naive: await driveClosed(stage, server, requests, false) }
}

export const BASELINE_HEADER = [...DRIVE_HEADER, 'to echo', 'times naive']

export function baselineRow(
  name: string,
  figures: DriveFigures,
  { echo, naive }: Baselines,
): string[] {
  const ratios = [ratioOf(figures, echo), ratioOf(figures, naive)]
  return [...driveRow(name, figures), ...ratios.map(formatFigure)]
}

/** Of the rates at which they answer. */
export function ratioOf(figures: DriveFigures, base: DriveFigures): number {
  return figures.perSecond / base.perSecond
}

const PEER_VERIFIED_COUNT = 500
