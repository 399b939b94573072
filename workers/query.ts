/**
 * Entry point of a query worker thread.
 *
 * @module
 */
import { attachWorker } from '../src/pool/worker.js'

export const run = attachWorker()
