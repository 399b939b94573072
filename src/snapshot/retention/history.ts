/**
 * What is known of the snapshots of a data directory beside what is in them.
 *
 * @module
 */
import type { ManifestSource } from '../format/manifest.js'
import { readImportId } from '../identities/list.js'
import { ancestorsOf, DAMAGED, type Origin, type OriginSource, readOrigin } from './origin.js'
import { type Pin, readPins } from './pins.js'
import type { RetainedState } from './retained.js'

export interface SnapshotState extends RetainedState {
  readonly pin: Pin | undefined
  readonly isAccepted: boolean
  readonly origin: Origin | typeof DAMAGED | undefined
}

/** @param ids  of those that are there, by ascending generation; the states are in this order */
export async function readStates(
  dataDirectory: string,
  ids: readonly string[],
): Promise<SnapshotState[]> {
  const { pins, accepted } = await readPins(dataDirectory)
  const states: SnapshotState[] = []
  for (const id of ids) {
    const origin = await readOrigin(dataDirectory, id)
    const pin = pins.find((pin) => pin.id === id)
    const isAccepted = accepted.includes(id)
    const isGood = isAccepted || hasPassed(origin)
    const importId = await readImportId(dataDirectory, id)
    states.push({ id, pin, isPinned: pin !== undefined, isAccepted, isGood, origin, importId })
  }
  return states
}

/** Ids of a snapshot and of those that it was made from, the newest first. */
export async function readLineage(
  dataDirectory: string,
  id: string,
  ids: readonly string[],
): Promise<string[]> {
  return [id, ...ancestorsOf(id, await readOrigin(dataDirectory, id), ids)]
}

/** What is known of each source of a snapshot, and of those that were removed. */
export function originSources(
  { origin, isAccepted }: Pick<SnapshotState, 'origin' | 'isAccepted'>,
  sources: readonly Pick<ManifestSource, 'id' | 'recipientCount'>[],
): OriginSource[] {
  if (origin !== undefined && origin !== DAMAGED && !isAccepted) return origin.sources
  const forced = origin === DAMAGED && !isAccepted ? ['unknown'] : []
  return sources.map(({ id, recipientCount }) => ({ id, goodCount: recipientCount, forced }))
}

/** A snapshot of an earlier release was never held back. */
function hasPassed(origin: Origin | typeof DAMAGED | undefined): boolean {
  if (origin === undefined) return true
  return origin !== DAMAGED && origin.sources.every(({ forced }) => forced.length === 0)
}
