/**
 * The gazetteer of a data directory that has none: the layers that come with the program.
 *
 * @module
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFile } from '../durable-files.js'
import { hasAreas, readCurrentAreas, versionDirectory } from './directory.js'
import { MANIFEST_FILE, type ManifestLayer } from './manifest.js'
import { publishVersion } from './publish.js'
import { DATA_FILE } from './tables.js'
import { verifyVersion } from './verify.js'
import { writeLayers } from './write-layers.js'

/** Where `npm run build` makes them, so that a checkout need not make them for each data directory. */
const MADE = fileURLToPath(new URL('../../', import.meta.url))

interface DefaultAreas {
  readonly version: string
  readonly layers: readonly ManifestLayer[]
}

/**
 * Writes them where there is no gazetteer.
 *
 * @returns undefined where there is one
 * @throws OperatorError
 */
export async function makeDefaultAreas(dataDirectory: string): Promise<DefaultAreas | undefined> {
  if (hasAreas(dataDirectory)) return undefined
  if (hasAreas(MADE)) return await copyDefault(dataDirectory)
  // The maps are read where they are needed, and by nobody else.
  const { defaultLayers } = await import('./default-layers.js')
  return await writeLayers(dataDirectory, { set: defaultLayers() })
}

/**
 * Writes a damaged version anew where it is what comes with this program.
 *
 * @returns whether it is
 * @throws OperatorError
 */
export async function repairDefaultAreas(dataDirectory: string, version: string): Promise<boolean> {
  if (!hasAreas(MADE) || readCurrentAreas(MADE) !== version) return false
  await copyDefault(dataDirectory)
  return true
}

async function copyDefault(dataDirectory: string): Promise<DefaultAreas> {
  const version = readCurrentAreas(MADE)
  if (version === undefined) throw new Error('it was removed meanwhile')
  return await publishVersion(dataDirectory, async ({ temporary }) => {
    const { layers } = await verifyVersion(MADE, version)
    for (const file of [DATA_FILE, MANIFEST_FILE]) {
      // To copy a file is to give it its owner, too, which the unit of systemd forbids.
      const bytes = await readFile(join(versionDirectory(MADE, version), file))
      await createFile(join(temporary, file), [bytes])
    }
    // What has its name is damaged, or was left by a process that ended before CURRENT named it.
    await rm(versionDirectory(dataDirectory, version), { recursive: true, force: true })
    return { version, layers }
  })
}
