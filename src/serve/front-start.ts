/**
 * Prepares a snapshot for answers: starts workers that hold it, and warms them.
 *
 * @module
 */
import type { Log } from '../log.js'
import { type QueryPool, startQueryPool } from '../pool/query-pool.js'
import type { SelectionService } from '../selection/answer.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { OpenSnapshot } from './front-current.js'
import { warm } from './front-warm.js'

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
  readonly log: Log
}

/** @throws  when the workers do not start, or do not answer; then nothing holds the snapshot */
export async function startSnapshot(
  { id, sources, shards }: Snapshot,
  { workerUrl, workerArgs = [], queryThreadCount, countMode, log }: StartOptions,
): Promise<StartedSnapshot> {
  const pool = await startQueryPool({
    workerUrl,
    workerArgs,
    threadCount: queryThreadCount,
    shards,
    log,
  })
  const catalogue = { snapshotId: id, sources, shards }
  const service = { catalogue, runner: pool, queryThreadCount, countMode: onceATurn(countMode) }
  try {
    await warm(service)
  } catch (error) {
    await pool.close()
    throw error
  }
  return { service, pool, close: () => pool.close() }
}

/** Asks again in the next turn of the event loop, in which a change is seen early enough. */
function onceATurn<Value extends string>(ask: () => Value): () => Value {
  let known: Value | undefined
  const forget = () => {
    known = undefined
  }
  return () => {
    if (known === undefined) {
      known = ask()
      setImmediate(forget)
    }
    return known
  }
}
