/**
 * Entry point of a clipping thread.
 *
 * @module
 */
import { runTask } from '../src/outline/run-task.js'
import { attachClipper } from '../src/pool/clip-worker.js'

export const run = attachClipper(runTask)

/** Tells that the thread is loaded. */
export const ready = () => true
