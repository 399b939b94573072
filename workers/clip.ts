/**
 * Entry point of a clipping thread.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import { Piscina } from 'piscina'
import { clipPage } from '../src/metrics/memory.js'
import { heapNoter } from '../src/metrics/vitals.js'
import { type OutlineTask, runTask } from '../src/outline/run-task.js'
import type { ClipWorkerData } from '../src/pool/clip.js'

const { metrics, frontIndex } = Piscina.workerData as ClipWorkerData
const noteHeap = heapNoter(clipPage(metrics, frontIndex))

export function run(task: OutlineTask): ReturnType<typeof runTask> {
  const outcome = runTask(task)
  noteHeap(performance.now())
  return outcome
}

/** Tells that the thread is loaded. */
export const ready = () => true
