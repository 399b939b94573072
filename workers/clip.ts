/**
 * Entry point of a clipping thread.
 *
 * @module
 */
export { runTask as run } from '../src/outline/run-task.js'

/** Tells that the thread is loaded. */
export const ready = () => true
