/**
 * Entry point of an audience thread.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { AudienceThreadData } from '../src/audiences/messages.js'
import { serveAudiences } from '../src/audiences/thread.js'
import { openTables, storeDirectory } from '../src/store/tables.js'

const data = workerData as AudienceThreadData
if (parentPort === null) throw new Error('this is a thread of a service')
serveAudiences(parentPort, openTables(storeDirectory(data.dataDirectory), 'read'), data)
