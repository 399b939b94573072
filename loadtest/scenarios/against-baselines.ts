/**
 * The same requests to the service, the echo server and the naive server, one after the other, by
 * closed loops.
 *
 * @module
 */
import { type KnownRequest, verifyPeer } from '../harness/answers.js'
import type { DriveFigures } from '../harness/drive.js'
import { DRIVE_HEADER, driveRow } from '../harness/drive-table.js'
import { formatFigure } from '../harness/table.js'
import { driveClosed } from './drives.js'
import type { Stage } from './scenario.js'

export interface Baselines {
  readonly echo: DriveFigures
  readonly naive: DriveFigures
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
