/**
 * Memory that is held, told from memory that is garbage already: on a busy machine, V8 collects late.
 *
 * @module
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects all garbage, at once. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect()
  // Buffers are given back by other threads, later; the next collection waits for them.
  collect()
}
