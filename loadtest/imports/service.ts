/**
 * A service on a snapshot: how soon it answers, and what it holds.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { cliPath } from '../harness/dataset.js'
import { startServer } from '../harness/processes.js'

export interface ServiceRun {
  /** From the start of the process to the end of the first answer. */
  readonly startMs: number
  readonly residentBytes: number
}

/** Starts a service, asks it once and ends it. */
export async function runService(dataDirectory: string, signal: AbortSignal): Promise<ServiceRun> {
  const startedMs = performance.now()
  const args = [cliPath, 'serve', '--data', dataDirectory, '--port', '0']
  const service = await startServer('the service', args, signal)
  try {
    while (!(await isAnswered(service.url))) await sleep(5, undefined, { signal })
    const startMs = performance.now() - startedMs
    return { startMs, residentBytes: service.residentBytes() ?? Number.NaN }
  } finally {
    await service.stop()
  }
}

/** Whether a count of those in a part of Houston is answered. */
async function isAnswered(url: string): Promise<boolean> {
  const coordinates = [
    [
      [-95.46, 29.69],
      [-95.27, 29.69],
      [-95.27, 29.81],
      [-95.46, 29.81],
      [-95.46, 29.69],
    ],
  ]
  const response = await fetch(`${url}/api/recipients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ countsOnly: true, geoJSON: { type: 'Polygon', coordinates } }),
  })
  await response.arrayBuffer()
  if (response.ok || response.status === 503) return response.ok
  throw new Error(`the service answered ${response.status}`)
}
