/**
 * Entry point of a front thread.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { runFront } from '../src/serve/front.js'

if (parentPort === null) throw new Error('this is a thread of a service')
await runFront(parentPort, workerData)
