/**
 * Entry point of the thread of a cluster.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { serveCluster } from '../src/cluster/thread.js'

if (parentPort === null) throw new Error('this is a thread of a service')
serveCluster(parentPort, workerData)
