/**
 * The code inside a query worker: shards attached once, then one task after the other.
 *
 * A task must leave no background work behind: between tasks the thread sleeps in `Atomics.wait`,
 * and timers do not run.
 *
 * @module
 */
import { Piscina } from 'piscina'
import { BudgetSpent, Unwanted } from '../shard/budget.js'
import { attachShard, type Shard } from '../shard/layout.js'
import { encodeRows } from '../shard/rows.js'
import { countInside, selectInside } from '../shard/select.js'
import { countAttached, type Flag, isRaised } from './control.js'
import { type Findings, flattenFindings } from './flat-findings.js'
import { type TimedQuery, unflatten } from './flat-queries.js'
import { sharedClockMs } from './messages.js'
import type { QueryWorkerData, RowsWritten, WorkerTask } from './worker-messages.js'

/** Attaches the shards this worker was born with and returns what does its tasks. */
export function attachWorker(): (task: WorkerTask) => Uint32Array | RowsWritten {
  const { shards: images, control, edgeTestCount } = Piscina.workerData as QueryWorkerData
  const shards = images.map(attachShard)
  countAttached(control)
  return (task) => {
    if (task.kind === 'rows') {
      return encodeRows(shards[task.shardIndex], task.runs, task.format, task.into)
    }
    const queries = unflatten(task)
    const nowMs = sharedClockMs()
    const findings = queries.map((query) =>
      // The front has been told that there is no answer in time.
      nowMs > query.expiresMs ? LATE : find(shards, query, edgeTestCount, task.unwanted),
    )
    return moved(flattenFindings(findings))
  }
}

const LATE: Findings = { fault: 'Unavailable' }

function find(
  shards: readonly Shard[],
  { kind, shardIndexes, shapes, countMode, isDistinct }: TimedQuery,
  edgeTestCount: number,
  unwanted: Flag | null,
): Findings {
  const touched = Array.from(shardIndexes, (index) => shards[index])
  const budget = { edgeTestCount, isUnwanted: unwanted && (() => isRaised(unwanted)) }
  try {
    return kind === 'count'
      ? { counts: countInside(touched, shapes, budget, countMode, isDistinct) }
      : { runs: selectInside(touched, shapes, budget, countMode, isDistinct) }
  } catch (error) {
    if (error instanceof BudgetSpent) return { fault: 'TooComplex' }
    if (error instanceof Unwanted) return { fault: 'Unavailable' }
    throw error
  }
}

/** Long findings are handed over; to copy short ones takes less than that. */
function moved(findings: Uint32Array): Uint32Array {
  if (findings.byteLength < MOVED_BYTES) return findings
  return Piscina.move(findings) as unknown as Uint32Array
}

const MOVED_BYTES = 64 * 1024
