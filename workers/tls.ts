/**
 * Entry point of the TLS thread.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { TlsThreadData } from '../src/tls/messages.js'
import { runTerminator } from '../src/tls/terminator.js'

if (parentPort === null) throw new Error('this is a thread of a service')
runTerminator(parentPort, workerData as TlsThreadData)
