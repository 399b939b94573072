/**
 * The keys as one front thread goes by them: those of the store, looked at again and again.
 *
 * @module
 */
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { KeyReader } from '../store/keys.js'
import { type KeyMemory, tellTaken } from './key-memory.js'
import { KeyRing } from './key-ring.js'

export interface FollowedKeys {
  /** Those of now: another object once any of them has changed. */
  readonly ring: KeyRing
  stop(): void
}

interface FollowOptions {
  readonly keys: KeyReader
  readonly memory: KeyMemory
  /** Which of the front threads this is. */
  readonly frontIndex: number
  readonly log: Log
}

export function followKeys({ keys, memory, frontIndex, log }: FollowOptions): FollowedKeys {
  let ring = new KeyRing(keys.read(), memory)
  let isFailing = false
  tellTaken(memory, frontIndex, ring.version)

  function look(): void {
    try {
      if (keys.version() === ring.version) return
      ring = new KeyRing(keys.read(), memory, ring)
      tellTaken(memory, frontIndex, ring.version)
      isFailing = false
    } catch (fault) {
      // Whoever changes a key waits for this thread, and is told that it does not answer by the change.
      if (!isFailing) log.error(describeFault(fault), 'the keys cannot be read again')
      isFailing = true
    }
  }

  const timer = setInterval(look, limits.keyPollMs).unref()
  return {
    get ring() {
      return ring
    },
    stop: () => clearInterval(timer),
  }
}
