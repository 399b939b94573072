/**
 * Prepares a snapshot for answers: starts workers that hold it, and warms them.
 *
 * @module
 */

import type { FollowIncrements } from '../live/client.js'
import type { Log } from '../log.js'
import type { MetricSlots, MetricsMemory } from '../metrics/memory.js'
import { type QueryPool, startQueryPool } from '../pool/query-pool.js'
import type { SelectionService } from '../selection/answer.js'
import { withoutShards } from '../selection/catalogue.js'
import { LiveViews } from '../selection/live-views.js'
import { baseSequenceOf } from '../snapshot/applied-sequence.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { FrontRegions, SpreadSnapshot } from './front-regions.js'
import { findMask, warm } from './front-warm.js'
import type { OpenSnapshot } from './served-snapshots.js'

interface StartedSnapshot extends OpenSnapshot {
  readonly pool: QueryPool
  readonly views: LiveViews
}

interface StartOptions {
  /** URL of the compiled workers/query.ts. */
  readonly workerUrl: string
  /** Options of Node.js for the workers. */
  readonly workerArgs: readonly string[]
  readonly queryThreadCount: number
  readonly countMode: SelectionService['countMode']
  readonly boundaryRule: SelectionService['boundaryRule']
  readonly unknownMembers?: SelectionService['unknownMembers']
  readonly freshness?: SelectionService['freshness']
  readonly areas?: SelectionService['areas']
  /** See `LiveViews`. */
  readonly suppressionVersion?: (() => number) | undefined
  /** Where the workers count, and the page of this thread. */
  readonly metrics: MetricsMemory
  readonly page: MetricSlots
  /** Tells what came since the snapshot, and what comes. */
  readonly follow: FollowIncrements
  /** What came is in answers. */
  readonly onApplied?: (() => void) | undefined
  /** On a machine of a cluster alone. */
  readonly regions?: FrontRegions | undefined
  readonly log: Log
}

/** @throws  when the workers do not start, or do not answer; then nothing holds the snapshot */
export async function startSnapshot(
  snapshot: Snapshot,
  {
    workerUrl,
    workerArgs,
    queryThreadCount,
    metrics,
    page,
    follow,
    onApplied,
    regions,
    log,
    ...rules
  }: StartOptions,
): Promise<StartedSnapshot> {
  const { id: snapshotId, createdAt, sources, shards } = snapshot
  const pool = await startQueryPool({
    workerUrl,
    workerArgs,
    threadCount: queryThreadCount,
    shards,
    sourceIds: sources.map(({ id }) => id),
    log,
    metrics,
    page,
  })
  const spread = await regions?.spread(snapshot, pool).catch(async (fault: unknown) => {
    await pool.close()
    throw fault
  })
  const views = new LiveViews({
    snapshotId,
    createdAt,
    baseSequence: baseSequenceOf(sources),
    sources,
    shards,
    runner: spread?.runner ?? pool,
    queryThreadCount,
    ...rules,
  })
  const followed = follow(snapshotId, (increment) => {
    // Before anybody can ask for the moment.
    pool.addIncrement(increment)
    views.add(increment)
    onApplied?.()
  })
  const close = async () => {
    await spread?.close()
    followed.stop()
    await pool.close()
  }
  try {
    await followed.level
    await warm(ownPart(views.newest, spread))
    spread?.serve(views)
    const reason = await findMask(views.newest)
    if (reason !== undefined) log.warn({ snapshotId, reason }, 'the boundary cannot be applied')
  } catch (error) {
    await close()
    throw error
  }
  return {
    get service() {
      return views.newest
    },
    pool,
    views,
    close,
  }
}

/** What this machine holds: others need not be there yet. */
function ownPart(service: SelectionService, spread: SpreadSnapshot | undefined): SelectionService {
  if (spread === undefined) return service
  return { ...service, catalogue: withoutShards(service.catalogue, (at) => !spread.isHere(at)) }
}
