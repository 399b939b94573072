/**
 * Entry point of the thread of changes.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { serveLive } from '../src/live/thread.js'

if (parentPort === null) throw new Error('this is a thread of a service')
serveLive(parentPort, workerData)
