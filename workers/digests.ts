/**
 * Entry point of the thread that makes digests of what a machine of a cluster has.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { DigestThreadData } from '../src/live/digest-messages.js'
import { makeDigests } from '../src/live/make-digests.js'
import { openTables, storeDirectory } from '../src/store/tables.js'

const data = workerData as DigestThreadData
if (parentPort === null) throw new Error('this is a thread of a service')
await makeDigests(parentPort, openTables(storeDirectory(data.dataDirectory), 'read'), data)
