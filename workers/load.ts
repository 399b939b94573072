/**
 * Entry point of a thread that loads one snapshot, and ends.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { LoadOutcome, LoadTask } from '../src/snapshot/load-thread.js'
import { loadSnapshot } from '../src/snapshot/open.js'

const { dataDirectory, id, rooms } = workerData as LoadTask
let isStopping = false
parentPort?.once('message', () => {
  isStopping = true
})
parentPort?.postMessage(await load())
parentPort?.close()

async function load(): Promise<LoadOutcome> {
  try {
    const goOn = () => {
      if (isStopping) throw new Error('the service is stopping')
    }
    return { snapshot: await loadSnapshot(dataDirectory, id, rooms, goOn) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}
