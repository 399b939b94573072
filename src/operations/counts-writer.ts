/**
 * Stores counts a while after they were made, many at a time: each change waits for the disk.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { Store, StoredCounts } from '../store/store.js'

interface CountsWriter {
  /** Counts that are not stored yet. */
  get(shapeHash: string): StoredCounts | undefined
  add(shapeHash: string, counts: StoredCounts): void
  /** Stores nothing more. */
  stop(): void
}

export function countsWriter(store: Store, log: Log): CountsWriter {
  const held = new Map<string, StoredCounts>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function write(): Promise<void> {
    const batch = [...held]
    const counts = batch.map(([shapeHash, each]) => ({ shapeHash, json: JSON.stringify(each) }))
    try {
      await store.change({ kind: 'counts', counts })
    } catch (fault) {
      // They will be made again when they are asked for.
      const { message } = fault as Error
      log.warn({ shapeCount: batch.length, reason: message }, 'counts of contexts are not stored')
    }
    for (const [hash, each] of batch) if (held.get(hash) === each) held.delete(hash)
    timer = undefined
    if (held.size > 0) schedule()
  }

  function schedule(): void {
    if (isStopped || timer !== undefined) return
    timer = setTimeout(() => void write(), limits.countsStoreDelayMs)
    timer.unref()
  }

  return {
    get: (shapeHash) => held.get(shapeHash),
    add(shapeHash, counts) {
      if (isStopped) return
      held.set(shapeHash, counts)
      schedule()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
