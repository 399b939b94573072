/**
 * The gazetteer of a data directory that has none.
 *
 * @module
 */
import { hasAreas } from './directory.js'
import { type WrittenLayers, writeLayers } from './write-layers.js'

/**
 * Writes the layers that come with the program, unless there is a gazetteer.
 *
 * @returns undefined where there is one
 * @throws OperatorError
 */
export async function makeDefaultAreas(dataDirectory: string): Promise<WrittenLayers | undefined> {
  if (hasAreas(dataDirectory)) return undefined
  // The maps are read where they are needed, and by nobody else.
  const { defaultLayers } = await import('./default-layers.js')
  return await writeLayers(dataDirectory, { set: defaultLayers() })
}
