/**
 * Prepares a snapshot for answers: starts workers that hold it, and warms them.
 *
 * @module
 */

import type { FollowIncrements } from '../live/follow-increments.js'
import type { Log } from '../log.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Page } from '../metrics/slots.js'
import { type QueryPool, startQueryPool } from '../pool/query-pool.js'
import type { SelectionService } from '../selection/answer.js'
import { LiveViews } from '../selection/live-views.js'
import { baseSequenceOf } from '../snapshot/applied-sequence.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { OpenSnapshot } from './front-current.js'
import { findMask, warm } from './front-warm.js'

interface StartedSnapshot extends OpenSnapshot {
  readonly pool: QueryPool
  readonly views: LiveViews
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
  readonly freshness?: SelectionService['freshness']
  /** Where the workers count, and the page of this thread; where nobody reads unless given. */
  readonly metrics?: MetricsMemory | undefined
  readonly page?: Page | undefined
  /** Tells what came since the snapshot, and what comes. */
  readonly follow: FollowIncrements
  readonly log: Log
}

/** @throws  when the workers do not start, or do not answer; then nothing holds the snapshot */
export async function startSnapshot(
  { id: snapshotId, createdAt, sources, shards }: Snapshot,
  {
    workerUrl,
    workerArgs = [],
    queryThreadCount,
    metrics,
    page,
    follow,
    log,
    ...rules
  }: StartOptions,
): Promise<StartedSnapshot> {
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
  const views = new LiveViews({
    snapshotId,
    createdAt,
    baseSequence: baseSequenceOf(sources),
    sources,
    shards,
    runner: pool,
    queryThreadCount,
    ...rules,
  })
  const followed = follow(snapshotId, (increment) => {
    // Before anybody can ask for the moment.
    pool.tell(increment)
    views.add(increment)
  })
  const close = () => {
    followed.stop()
    return pool.close()
  }
  try {
    await followed.level
    await warm(views.newest)
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
