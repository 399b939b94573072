/**
 * Entry point of the thread that writes the audit of a service.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { serveLines } from '../src/audit/serve-lines.js'

if (parentPort === null) throw new Error('this is a thread of a service')
serveLines(parentPort, workerData)
