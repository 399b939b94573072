/**
 * Drives the servers of a scenario, with the connections and times of the options unless given.
 *
 * @module
 */
import type { KnownRequest } from '../harness/answers.js'
import { type Drive, type DriveFigures, drive } from '../harness/drive.js'
import type { ServerProcess } from '../harness/processes.js'
import type { Stage } from './scenario.js'

/** As hard as the server answers. */
export function driveClosed(
  stage: Stage,
  server: ServerProcess,
  requests: readonly KnownRequest[],
  compareAnswers: boolean,
): Promise<DriveFigures> {
  return driveOn(stage, server, { requests, compareAnswers })
}

export interface OpenPlan {
  readonly connectionCount: number
  readonly ratePerSecond: number
  readonly warmUpSeconds?: number
  readonly seconds?: number
}

/** At a rate, whatever the server does; every answer is compared. */
export function driveOpen(
  stage: Stage,
  server: ServerProcess,
  requests: readonly KnownRequest[],
  plan: OpenPlan,
): Promise<DriveFigures> {
  return driveOn(stage, server, { requests, compareAnswers: true, ...plan })
}

function driveOn(
  { options, signal }: Stage,
  { url, pid, failure }: ServerProcess,
  plan: Pick<Drive, 'requests' | 'compareAnswers'> & Partial<OpenPlan>,
): Promise<DriveFigures> {
  const { connectionCount, warmUpSeconds, measuredSeconds: seconds } = options
  const usual = { connectionCount, warmUpSeconds, seconds }
  return Promise.race([drive({ url, pid, signal, ...usual, ...plan }), failure])
}
