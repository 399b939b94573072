/**
 * What a new snapshot is held against: what was there before, and what was good.
 *
 * @module
 */
import { listSnapshots, readCurrent } from '../directory.js'
import { readManifest } from '../format/manifest.js'
import { isUnusable } from '../open-file.js'
import { originSources } from './history.js'
import { ancestorsOf, type OriginSource, readOrigin } from './origin.js'
import { readPins } from './pins.js'

export interface Reference {
  /** Recipients of each source, by its id. */
  readonly heldCounts: ReadonlyMap<number, number>
  /** What each source is called, by its id. */
  readonly heldLabels: ReadonlyMap<number, string>
  readonly sources: readonly OriginSource[]
  /** Ids of the snapshots that a new one comes from, the newest first. */
  readonly ancestors: readonly string[]
}

/**
 * Of the current snapshot, or where that is damaged of the newest one of which the manifest can be read:
 * an import that repairs must not be taken for a first one.
 */
export async function readReference(dataDirectory: string): Promise<Reference> {
  const ids = await listSnapshots(dataDirectory)
  const current = await ifIntact(readCurrent(dataDirectory))
  const newestFirst = ids.toReversed()
  for (const id of current === undefined ? newestFirst : [current, ...newestFirst]) {
    const manifest = await ifIntact(readManifest(dataDirectory, id))
    if (manifest === undefined) continue
    const origin = await readOrigin(dataDirectory, id)
    const accepted = (await ifIntact(readPins(dataDirectory)))?.accepted ?? []
    return {
      heldCounts: new Map(manifest.sources.map(({ id, recipientCount }) => [id, recipientCount])),
      heldLabels: new Map(manifest.sources.map(({ id, label }) => [id, label])),
      sources: originSources({ origin, isAccepted: accepted.includes(id) }, manifest.sources),
      ancestors: id === current ? [id, ...ancestorsOf(id, origin, ids)] : newestFirst,
    }
  }
  return { heldCounts: new Map(), heldLabels: new Map(), sources: [], ancestors: newestFirst }
}

async function ifIntact<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (!isUnusable(error)) throw error
    return undefined
  }
}
