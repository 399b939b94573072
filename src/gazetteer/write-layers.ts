/**
 * Layers of areas, written into a new version of the gazetteer, which is verified before it is current.
 *
 * @module
 */
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { readArea } from '../selection/shapes/read-area.js'
import {
  createFile,
  DIRECTORY_MODE,
  generationOf,
  syncDirectory,
  TEMPORARY,
} from '../snapshot/directory.js'
import { sha256Of } from '../snapshot/load/sha256.js'
import { type DataLock, withDataLock } from '../snapshot/publish/lock.js'
import { removeOnExit } from '../snapshot/publish/remove-on-exit.js'
import type { StoredArea } from './area-record.js'
import {
  areasDirectory,
  listVersions,
  readCurrentAreas,
  versionDirectory,
  writeCurrentAreas,
} from './directory.js'
import { AreasDraft, type LayerFacts, type PlacedArea, rejected } from './draft.js'
import { MANIFEST_FILE, toManifest, versionOf } from './manifest.js'
import { isAreaKey, KEY_RULE, LAYER_RULE, nameOf, partsOf } from './names.js'
import { DATA_FILE, LOCK_FILE, openAreaTables } from './tables.js'
import { readBack, verifyVersion } from './verify.js'

/** An area as an import reads it. */
export interface DraftArea {
  /** Of the layer it is in, such as `48201`. */
  readonly key: string
  readonly name: string
  /** Other names for it, such as `SAME:048201`. No two areas of any layers share one. */
  readonly aliases: readonly string[]
  /** A geometry of GeoJSON, longitude before latitude in degrees. */
  readonly geometry: object
}

export interface DraftLayer {
  readonly layer: string
  /** Where it comes from, for whoever looks. */
  readonly source?: string
  readonly licence?: string
  readonly areas: AsyncIterable<DraftArea> | Iterable<DraftArea>
}

export interface LayerChange {
  /** Layers that are added, or replace those of their names. */
  readonly set?: readonly DraftLayer[]
  /** Names of layers that are taken out. */
  readonly remove?: readonly string[]
  /** Is told, now and then, how many areas have been written. */
  readonly onProgress?: (areaCount: number) => void
}

export interface WrittenLayers {
  readonly version: string
  /** All that the version has, in the order of their names. */
  readonly layers: readonly WrittenLayer[]
}

export interface WrittenLayer {
  readonly layer: string
  readonly areaCount: number
  readonly vertexCount: number
  readonly aliasCount: number
}

/**
 * Writes a new version of the gazetteer, verifies it and makes it the current one. Layers that are not
 * named stay as they are. Until it returns, services go on with the version before.
 *
 * @throws OperatorError  InputRejected, naming the area at fault by its layer, key and position; Locked
 */
export async function writeLayers(
  dataDirectory: string,
  change: LayerChange,
): Promise<WrittenLayers> {
  return await withDataLock(areasDirectory(dataDirectory), (lock) =>
    writeLocked(dataDirectory, change, lock),
  )
}

async function writeLocked(
  dataDirectory: string,
  change: LayerChange,
  lock: DataLock,
): Promise<WrittenLayers> {
  const areas = areasDirectory(dataDirectory)
  await removeTemporaries(areas)
  const before = readCurrentAreas(dataDirectory)
  if (before !== undefined) await verifyVersion(dataDirectory, before)
  const temporary = join(areas, `new${TEMPORARY}`)
  await mkdir(temporary, { mode: DIRECTORY_MODE })
  const removal = removeOnExit(temporary, false)
  try {
    const layers = await fill(dataDirectory, temporary, change, before)
    // LMDB maps this file into memory. Where a disk has no room for it, its first touch would end a service.
    await createFile(join(temporary, LOCK_FILE), [Buffer.alloc(LOCK_BYTES)])
    const dataFile = join(temporary, DATA_FILE)
    await syncFile(dataFile)
    await assertReadBack(temporary, layers)
    const { size: dataBytes } = await stat(dataFile)
    const dataSha256 = await sha256Of(dataFile)
    const createdAt = new Date().toISOString()
    const manifest = toManifest({ createdAt, dataBytes, dataSha256, layers })
    const version = versionOf(manifest, await nextGeneration(dataDirectory))
    await createFile(join(temporary, MANIFEST_FILE), [Buffer.from(JSON.stringify(manifest))])
    await syncDirectory(temporary)
    lock.assertHeld()
    await makeCurrent(dataDirectory, temporary, version)
    await removeOld(dataDirectory, version, before)
    return { version, layers }
  } finally {
    await rm(temporary, { recursive: true, force: true })
    removal.forget()
  }
}

/** More than it takes for all readers. */
const LOCK_BYTES = 64 << 10

async function fill(
  dataDirectory: string,
  temporary: string,
  { set = [], remove = [], onProgress }: LayerChange,
  before: string | undefined,
) {
  const draftDirectory = join(temporary, 'draft')
  await mkdir(draftDirectory, { mode: DIRECTORY_MODE })
  const tables = openAreaTables(draftDirectory, 'write')
  const draft = new AreasDraft(tables, onProgress)
  try {
    draft.refuseDoubles(set.map(({ layer }) => layer))
    for (const layer of set) await draft.put(factsOf(layer), placedAreas(layer))
    const named = [...set.map(({ layer }) => layer), ...remove]
    const known = before === undefined ? [] : await draft.keep(dataDirectory, before, named)
    draft.refuseUnknown(remove, known)
    const layers = draft.finish()
    // Without free pages. What is in the draft need not be on disk, but the copy must be.
    await tables.root.backup(temporary, true)
    return layers
  } finally {
    await tables.root.close()
    await rm(draftDirectory, { recursive: true, force: true })
  }
}

function factsOf({ layer, source, licence }: DraftLayer): LayerFacts {
  for (const text of [source, licence]) {
    if (text === undefined || isPlainText(text, limits.areaSourceCharCount)) continue
    const most = `at most ${limits.areaSourceCharCount} characters, without line ends`
    rejected(`source and licence of ${layer} must have ${most}`)
  }
  return {
    layer,
    ...(source !== undefined && { source }),
    ...(licence !== undefined && { licence }),
  }
}

async function* placedAreas({ layer, areas }: DraftLayer): AsyncGenerator<PlacedArea> {
  let position = 0
  for await (const area of areas) {
    const where = `area ${++position} of ${layer}`
    yield { stored: storedArea(layer, area, where), where: `${where} (${area.key})` }
  }
}

function storedArea(layer: string, area: DraftArea, where: string): StoredArea {
  const { key, name, geometry } = area
  // A key that is none is not repeated: nobody knows what it is.
  if (!isAreaKey(key)) rejected(`${where} must have a key of ${KEY_RULE}`)
  const named = `${where} (${key})`
  if (!isPlainText(name, limits.areaNameCharCount)) {
    rejected(
      `${named} must have a name of at most ${limits.areaNameCharCount} characters, without line ends`,
    )
  }
  const id = `${layer}:${key}`
  const aliases = new Map<string, string>()
  for (const alias of area.aliases) {
    if (partsOf(alias) === undefined) {
      rejected(
        `${named} must have aliases such as SAME:048201: ${LAYER_RULE}, a colon, ${KEY_RULE}`,
      )
    }
    // Its own name is no other one.
    if (nameOf(alias) !== nameOf(id)) aliases.set(nameOf(alias), alias)
  }
  if (aliases.size > limits.areaAliasCount) {
    rejected(`${named} has more than ${limits.areaAliasCount} aliases`)
  }
  try {
    const polygons = readArea(geometry, 'geometry')
    return { id, name, aliases: [...aliases.values()], polygons }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return rejected(`${named}: ${error.message}`)
  }
}

/** One line, and something to see. */
function isPlainText(text: string, mostChars: number): boolean {
  return text.trim() !== '' && text.length <= mostChars && !/\p{C}/u.test(text)
}

/** An error of fsync leaves the file in an unknown state: the draft is given up. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Each record, as a service reads it. */
async function assertReadBack(directory: string, layers: readonly WrittenLayer[]): Promise<void> {
  const tables = openAreaTables(directory, 'read')
  try {
    const found = readBack(tables)
    const areaCount = layers.reduce((sum, layer) => sum + layer.areaCount, 0)
    const vertexCount = layers.reduce((sum, layer) => sum + layer.vertexCount, 0)
    if (found.areaCount === areaCount && found.vertexCount === vertexCount) return
    throw new Error('other areas were read back than were written')
  } finally {
    await tables.root.close()
  }
}

async function makeCurrent(
  dataDirectory: string,
  temporary: string,
  version: string,
): Promise<void> {
  const directory = versionDirectory(dataDirectory, version)
  await rename(temporary, directory)
  try {
    await syncDirectory(areasDirectory(dataDirectory))
    await writeCurrentAreas(dataDirectory, version)
  } catch (error) {
    if (readCurrentAreas(dataDirectory) === version) {
      const advice = 'is current, but may not be after a power failure: import again'
      throw new OperatorError('Failed', `${version} ${advice}`, { cause: error })
    }
    await rename(directory, temporary).catch(() => undefined)
    throw error
  }
}

/** Later than all that are there, so that none ever has the name of another. */
async function nextGeneration(dataDirectory: string): Promise<number> {
  const last = (await listVersions(dataDirectory)).at(-1)
  return last === undefined ? 1 : generationOf(last) + 1
}

async function removeTemporaries(areas: string): Promise<void> {
  for (const name of await readdir(areas)) {
    if (name.endsWith(TEMPORARY)) await rm(join(areas, name), { recursive: true })
  }
}

/**
 * Removes all versions but this one and the one that was current before. A service that still serves another
 * one goes on: it holds the file open and mapped, and its bytes stay until it closes it.
 */
async function removeOld(
  dataDirectory: string,
  version: string,
  before: string | undefined,
): Promise<void> {
  for (const other of await listVersions(dataDirectory)) {
    if (other === version || other === before) continue
    const directory = versionDirectory(dataDirectory, other)
    // Renamed first, so that half a version never has the name of one. The next import tries again.
    await rename(directory, directory + TEMPORARY).catch(() => undefined)
    await rm(directory + TEMPORARY, { recursive: true, force: true }).catch(() => undefined)
  }
}
