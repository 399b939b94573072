/**
 * What runs inside a query worker: shards attached once, then one task after the other.
 *
 * A task must leave no background work behind: between tasks the thread sleeps in `Atomics.wait`,
 * and timers do not run.
 *
 * @module
 */
import { Piscina } from 'piscina'
import { type Budget, BudgetSpent } from '../shard/budget.js'
import { attachShard, type Shard } from '../shard/layout.js'
import { encodeRows } from '../shard/rows.js'
import { countInside, selectInside } from '../shard/select.js'
import { countAttached } from './control.js'
import {
  sharedClockMs,
  type Task,
  type TaskOutcome,
  type TaskResults,
  type TimedTask,
} from './messages.js'
import type { QueryWorkerData } from './query-pool.js'

/** Attaches the shards this worker was born with and returns what answers its tasks. */
export function attachWorker(): (task: TimedTask) => TaskOutcome {
  const { shards: images, control, edgeTestCount } = Piscina.workerData as QueryWorkerData
  const shards = images.map(attachShard)
  countAttached(control)
  return (task) => {
    // Whoever asked has been told that there is no answer in time.
    if (sharedClockMs() > task.expiresMs) return { fault: 'Unavailable' }
    try {
      const value = answer(shards, task, { edgeTestCount })
      return value instanceof Uint8Array ? moved(value) : { value }
    } catch (error) {
      if (error instanceof BudgetSpent) return { fault: 'TooComplex' }
      throw error
    }
  }
}

function answer(shards: readonly Shard[], task: Task, budget: Budget): TaskResults[Task['kind']] {
  switch (task.kind) {
    case 'count':
      return countInside(pick(shards, task.shardIndexes), task.shapes, budget, task.countMode)
    case 'select':
      return selectInside(pick(shards, task.shardIndexes), task.shapes, budget, task.countMode)
    case 'encode': {
      return encodeRows(shards[task.shardIndex], task.runs, task.format)
    }
  }
}

/** The outcome with its bytes handed over instead of copied. */
function moved(value: Uint8Array): TaskOutcome {
  const transferable = {
    [Piscina.transferableSymbol]: value.buffer,
    [Piscina.valueSymbol]: { value },
  }
  return Piscina.move(transferable as never) as unknown as TaskOutcome
}

function pick(shards: readonly Shard[], indexes: Uint32Array): Shard[] {
  return Array.from(indexes, (index) => shards[index])
}
