/**
 * Entry point of a query worker thread.
 *
 * @module
 */
import { attachWorker } from '../src/pool/query-worker.js'

export const run = attachWorker()
