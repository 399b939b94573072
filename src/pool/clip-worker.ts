/**
 * The code inside a clipping thread that is not of its tasks: it tells how large the heap is.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { Piscina } from 'piscina'
import { clipPage } from '../metrics/memory.js'
import { heapNoter } from '../metrics/vitals.js'
import type { ClipWorkerData } from './worker-messages.js'

/** @returns what Piscina calls for each task */
export function attachClipper<Task, Outcome>(run: (task: Task) => Outcome): typeof run {
  const data = Piscina.workerData as ClipWorkerData | null | undefined
  if (!data) return run
  const note = heapNoter(clipPage(data.metrics, data.frontIndex))
  return (task) => {
    const outcome = run(task)
    note(performance.now())
    return outcome
  }
}
