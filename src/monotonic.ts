/**
 * A clock that all threads of the process share, that goes on while the process is stopped, and that cannot be set.
 *
 * @module
 */

/** Milliseconds since the system started. Only differences mean anything. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return 1_000 * seconds + nanoseconds / 1e6
}
