/**
 * Entry point of the thread that sets the marks of suppressed recipients.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { openTables, storeDirectory } from '../src/store/tables.js'
import { type MarksThreadData, serveMarks } from '../src/suppressions/serve-marks.js'

const data = workerData as MarksThreadData
if (parentPort === null) throw new Error('this is a thread of a service')
serveMarks(parentPort, openTables(storeDirectory(data.dataDirectory), 'read'), data)
