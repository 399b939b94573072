/**
 * What the sources held before an import.
 *
 * @module
 */
import { listSnapshots, readCurrent } from '../directory.js'
import { type Manifest, readManifest } from '../format/manifest.js'
import { isCorrupt } from '../open-file.js'

/**
 * The recipients of each source, by its id: in the current snapshot, or where that is damaged in the
 * newest one of which the manifest can be read. An import that repairs must not be taken for a first one.
 */
export async function readHeldCounts(dataDirectory: string): Promise<ReadonlyMap<number, number>> {
  const current = await ifIntact(readCurrent(dataDirectory))
  const ids = (await listSnapshots(dataDirectory)).reverse()
  for (const id of current === undefined ? ids : [current, ...ids]) {
    const manifest: Manifest | undefined = await ifIntact(readManifest(dataDirectory, id))
    if (manifest !== undefined) {
      return new Map(manifest.sources.map(({ id, recipientCount }) => [id, recipientCount]))
    }
  }
  return new Map()
}

async function ifIntact<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return undefined
  }
}
