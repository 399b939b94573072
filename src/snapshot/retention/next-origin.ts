/**
 * The origin of a snapshot that is made from another one.
 *
 * @module
 */
import type { Origin, OriginSource } from './origin.js'
import type { Reference } from './reference.js'

/** A source that is new or replaced. */
interface PutSource {
  readonly recipientCount: number
  /** Guards that were overruled for it. */
  readonly forced: readonly string[]
}

/**
 * A source that was forced stays so until it is put again and passes beside what was good, and not only
 * beside what it was forced to; so does one that was removed.
 *
 * @param put  by the id of the source
 */
export function nextOrigin(
  { sources, ancestors, heldCounts }: Reference,
  put: ReadonlyMap<number, PutSource>,
  removedIds: ReadonlySet<number>,
): Origin {
  const next = new Map(sources.map((source) => [source.id, source]))
  for (const id of removedIds) {
    const goodCount = next.get(id)?.goodCount ?? null
    // Without anybody in it nobody is lost.
    if ((heldCounts.get(id) ?? 0) === 0 && (goodCount ?? 0) === 0) next.delete(id)
    else next.set(id, { id, goodCount, forced: ['removed'] })
  }
  for (const [id, { recipientCount, forced }] of put) {
    const goodCount = forced.length === 0 ? recipientCount : (next.get(id)?.goodCount ?? null)
    next.set(id, { id, goodCount, forced: [...forced] })
  }
  const byId = (left: OriginSource, right: OriginSource) => left.id - right.id
  return { ancestors: [...ancestors], sources: [...next.values()].sort(byId) }
}
