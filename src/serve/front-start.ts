/**
 * Prepares a snapshot for answers: starts workers that hold it, and warms them.
 *
 * @module
 */
import type { Log } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Page } from '../metrics/slots.js'
import { type QueryPool, startQueryPool } from '../pool/query-pool.js'
import type { SelectionService } from '../selection/answer.js'
import { createMasks } from '../selection/masks.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { OpenSnapshot } from './front-current.js'
import { findMask, warm } from './front-warm.js'

interface StartedSnapshot extends OpenSnapshot {
  readonly pool: QueryPool
}

interface StartOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  /** Options of Node.js for the workers; none unless given. */
  readonly workerArgs?: readonly string[]
  readonly queryThreadCount: number
  readonly countMode: SelectionService['countMode']
  readonly boundaryRule: SelectionService['boundaryRule']
  readonly unknownMembers?: SelectionService['unknownMembers']
  /** Where the workers count, and the page of this thread; where nobody reads unless given. */
  readonly metrics?: MetricsMemory | undefined
  readonly page?: Page | undefined
  readonly log: Log
}

/** @throws  when the workers do not start, or do not answer; then nothing holds the snapshot */
export async function startSnapshot(
  { id, createdAt, sources, shards }: Snapshot,
  { workerUrl, workerArgs = [], queryThreadCount, metrics, page, log, ...rules }: StartOptions,
): Promise<StartedSnapshot> {
  const pool = await startQueryPool({
    workerUrl,
    workerArgs,
    threadCount: queryThreadCount,
    shards,
    log,
    metrics,
    page,
  })
  const catalogue = { snapshotId: id, createdAt, sources, shards }
  const workers = { catalogue, runner: pool, queryThreadCount }
  const service = { ...workers, ...rules, masks: createMasks(workers) }
  try {
    await warm(service)
    const reason = await findMask(service)
    if (reason !== undefined) log.warn({ snapshotId: id, reason }, 'the boundary cannot be applied')
  } catch (error) {
    await pool.close()
    throw error
  }
  return { service, pool, close: () => pool.close() }
}
