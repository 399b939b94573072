/**
 * Entry point of the thread that writes the access log of a service.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { serveLog } from '../src/access-log/serve-log.js'

if (parentPort === null) throw new Error('this is a thread of a service')
serveLog(parentPort, workerData)
