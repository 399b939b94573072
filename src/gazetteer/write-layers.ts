/**
 * Layers of areas, written into a new version of the gazetteer, which is verified before it is current.
 *
 * @module
 */
import { chmod, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, DIRECTORY_MODE, FILE_MODE } from '../durable-files.js'
import { OperatorError, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { readArea } from '../selection/shapes/read-area.js'
import { sha256Of } from '../snapshot/load/sha256.js'
import type { StoredArea } from './area-record.js'
import { areasDirectory } from './directory.js'
import { AreasDraft, type LayerFacts, type PlacedArea, rejected } from './draft.js'
import { MANIFEST_FILE, toManifest, versionOf } from './manifest.js'
import { isAreaKey, KEY_RULE, LAYER_RULE, nameOf, partsOf } from './names.js'
import { type AreasPlace, nextGeneration, publishVersion } from './publish.js'
import { DATA_FILE, openAreaTables } from './tables.js'
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
  /** Where it was read, for messages; without it, its position in the layer is named. */
  readonly where?: string
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
  /** Called when the version is about to become current. */
  readonly onCommit?: () => void
}

export interface WrittenLayers {
  readonly version: string
  /** All that the version has, in the order of their names. */
  readonly layers: readonly WrittenLayer[]
}

interface WrittenLayer {
  readonly layer: string
  readonly areaCount: number
  readonly vertexCount: number
  readonly aliasCount: number
}

/**
 * Writes a new version of the gazetteer, verifies it and makes it the current one. Layers that are not
 * named stay as they are. Until it returns, services go on with the version before.
 *
 * @throws OperatorError  InputRejected, naming the area at fault by its layer, key and position; Locked;
 *   SnapshotCorrupt or NewerFormat where layers that are not named would be lost
 */
export async function writeLayers(
  dataDirectory: string,
  change: LayerChange,
): Promise<WrittenLayers> {
  const write = async ({ temporary, before }: AreasPlace) => {
    if (before !== undefined) await verifyKept(dataDirectory, before)
    const layers = await fill(dataDirectory, temporary, change, before)
    const dataFile = join(temporary, DATA_FILE)
    // LMDB lets everybody read a copy.
    await chmod(dataFile, FILE_MODE)
    await assertReadBack(temporary, layers)
    const { size: dataBytes } = await stat(dataFile)
    const dataSha256 = await sha256Of(dataFile)
    const manifest = toManifest({ dataBytes, dataSha256, layers })
    await createFile(join(temporary, MANIFEST_FILE), [Buffer.from(JSON.stringify(manifest))])
    return { version: versionOf(manifest, await nextGeneration(dataDirectory)), layers }
  }
  return await publishVersion(dataDirectory, write, change.onCommit)
}

/** The layers that are not named come from it. */
async function verifyKept(dataDirectory: string, version: string): Promise<void> {
  try {
    await verifyVersion(dataDirectory, version)
  } catch (error) {
    if (!(error instanceof OperatorError) || error.code === 'Failed') throw error
    const directory = areasDirectory(dataDirectory)
    const advice = `go back to the version before by ${directory}/CURRENT, or move ${directory} aside and import all layers`
    throw new OperatorError(
      error.code,
      `${error.message}. Its other layers would be lost: ${advice}`,
      { cause: error },
    )
  }
}

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
    const fault = text === undefined ? undefined : textFault(text, limits.areaSourceCharCount)
    if (fault !== undefined) rejected(`source and licence of ${layer} must have a text ${fault}`)
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
    position++
    const { where = `area ${position} of ${layer}` } = area
    yield { stored: storedArea(layer, area, where), where: `${where} (${area.key})` }
  }
}

function storedArea(layer: string, area: DraftArea, where: string): StoredArea {
  const { key, name, geometry } = area
  // A key that is none is not repeated: nobody knows what it is.
  if (!isAreaKey(key)) rejected(`${where} must have a key of ${KEY_RULE}`)
  const named = `${where} (${key})`
  const fault = textFault(name, limits.areaNameCharCount)
  if (fault !== undefined) rejected(`${named} must have a name ${fault}`)
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

/** What a text must be that is not one line with something to see; undefined for one that is. */
function textFault(text: string, mostChars: number): string | undefined {
  if (text.trim() === '') return 'that is not empty'
  if (text.length > mostChars) return `of at most ${mostChars} characters`
  const [hidden] = HIDDEN.exec(text) ?? []
  if (hidden === undefined) return undefined
  const code = hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  return (
    `without U+${code}, a line end or another character that is not seen: correct it, or, for a ` +
    'shapefile, name the right encoding with --encoding'
  )
}

/** Joiners are none of these: Persian and Sinhala words have them. */
const HIDDEN = /[^\P{C}\u200c\u200d]/u

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
