/**
 * A version of the gazetteer, open: areas by their names, by what they are called, and by where they are.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { contains } from '../geometry/polygon/contains.js'
import { nearestName } from '../interface/near-miss.js'
import { limits } from '../limits.js'
import type { NamedArea, NamedAreas } from '../selection/named-areas.js'
import { type GlobeBox, globeBoxOf } from './area-bounds.js'
import { AreaIndex, type Rank } from './area-index.js'
import { DamagedRecord, decodeArea, type StoredArea } from './area-record.js'
import { readCurrentAreas, versionDirectory } from './directory.js'
import { type FoundArea, found } from './found-area.js'
import { KeptAreas } from './kept-areas.js'
import { LayerAreas } from './layer-areas.js'
import { type ManifestLayer, readAreasManifest } from './manifest.js'
import { folded, lookedUp, type NameParts, nameOf, partsOf } from './names.js'
import { type AreaTables, INDEX_KEY, openAreaTables } from './tables.js'

interface GazetteerArea extends NamedArea, StoredArea {}

interface AreaSearch {
  readonly layer?: string | undefined
  /** What a name or a key has in it, in any letter case and without accents. */
  readonly q?: string | undefined
  /** A place in units that is in the area, or on its boundary. */
  readonly at?: readonly [lng: number, lat: number] | undefined
  readonly limit: number
  /** The id of the area behind which to go on. */
  readonly after?: string | undefined
}

interface FoundAreas {
  readonly areas: readonly FoundArea[]
  /** The `after` of what follows; undefined where nothing does. */
  readonly next: string | undefined
}

/** All throw ServiceError: AreaDamaged, and Unavailable once it is closed. */
export interface Gazetteer extends NamedAreas {
  /** In the order of their names. */
  layers(): readonly ManifestLayer[]
  find(name: string): GazetteerArea | undefined
  /** Those whose words begin with what is looked for are the first; by name. */
  search(search: AreaSearch): FoundAreas
  /** Areas that hold a place in units, by name. */
  at(lngUnits: number, latUnits: number, layer?: string): readonly FoundArea[]
  /** Undefined where there is no layer that is written so. */
  ofLayer(layer: string): LayerAreas | undefined
  /** Undefined where there is no such area. */
  boundsOf(name: string): GlobeBox | undefined
  /** Polygons that were found stay what they are. */
  close(): Promise<void>
}

/**
 * The version that CURRENT names, which is taken as it is; undefined where there is none.
 *
 * @throws OperatorError  as `openVersion` does
 */
export function openGazetteer(dataDirectory: string): Gazetteer | undefined {
  const version = readCurrentAreas(dataDirectory)
  return version === undefined ? undefined : openVersion(dataDirectory, version)
}

/**
 * @param version  known to be what was written, see verify.ts
 * @throws OperatorError  SnapshotCorrupt, NewerFormat or Failed, of its manifest
 */
export function openVersion(dataDirectory: string, version: string): Gazetteer {
  const { layers } = readAreasManifest(dataDirectory, version)
  const tables = openAreaTables(versionDirectory(dataDirectory, version), 'read')
  return new OpenGazetteer(version, layers, tables)
}

class OpenGazetteer implements Gazetteer {
  readonly version: string
  readonly #layers: readonly ManifestLayer[]
  readonly #tables: AreaTables
  readonly #index: AreaIndex
  readonly #kept = new KeptAreas(limits.areasKeptBytes)
  /** Names under which areas were found lately, as these areas are looked up. */
  readonly #known = new Map<string, string>()
  readonly #byLayer = new Map<string, LayerAreas>()
  #isClosed = false

  constructor(version: string, layers: readonly ManifestLayer[], tables: AreaTables) {
    this.version = version
    this.#layers = layers
    this.#tables = tables
    this.#index = new AreaIndex(tables.index.get(INDEX_KEY) ?? Buffer.alloc(0))
  }

  layers(): readonly ManifestLayer[] {
    return this.#layers
  }

  find(name: string): GazetteerArea | undefined {
    let known = this.#known.get(name)
    if (known === undefined) {
      const parts = partsOf(name)
      if (parts === undefined) return undefined
      known = lookedUp(parts)
      const area = this.#find(known)
      if (area !== undefined) this.#know(name, nameOf(area.id))
      return area
    }
    return this.#find(known)
  }

  nearest(name: string): readonly string[] {
    const found = new Set<string>()
    const tryName = (other: string) => {
      const area = found.size < limits.areasNearCount ? this.find(other) : undefined
      if (area !== undefined) found.add(area.id)
    }
    const parts = partsOf(name) ?? partsOf(name.replace(SEPARATOR, ':'))
    if (parts === undefined) {
      for (const { layer } of this.#layers) tryName(`${layer}:${name}`)
      return found.size > 0 ? [...found] : this.#called(name)
    }
    const { prefix, key } = parts
    // SAME has a zero before the five digits of a county, for all of it.
    const whole = `SAME:0${key}`
    if (/^(same|fips6) \d{5}$/.test(`${prefix} ${key}`) && this.find(whole) !== undefined)
      return [whole]
    if (!name.includes(':')) tryName(`${prefix}:${key}`)
    for (const other of [key.toUpperCase(), key.toLowerCase()]) tryName(`${prefix}:${other}`)
    if (found.size > 0) return [...found]
    const layers = this.#layers.map(({ layer }) => layer)
    const likely = nearestName(prefix, layers)
    for (const other of likely === undefined ? layers : [likely, ...layers]) {
      tryName(`${other}:${key}`)
    }
    for (const id of this.#beside(parts)) tryName(id)
    return found.size > 0 || name.includes(':') ? [...found] : this.#called(name)
  }

  /** The name of the area that is called so, where it is one alone: names do not tell which of several is meant. */
  #called(text: string): readonly string[] {
    if (text === '' || text.length > limits.areaQueryCharCount) return []
    const { areas } = this.search({ q: text, limit: 2 })
    return areas.length === 1 ? [areas[0].id] : []
  }

  search({ layer, q, at, limit, after }: AreaSearch): FoundAreas {
    const text = q === undefined ? '' : folded(q)
    // What has nothing to be looked for is in no name.
    if (q !== undefined && q !== '' && text === '') return { areas: [], next: undefined }
    const start = after === undefined ? undefined : this.#startBehind(after, text)
    const areas: FoundArea[] = []
    for (const position of this.#positions({ text, layer, at, start })) {
      if (areas.length === limit) return { areas, next: areas[limit - 1].id }
      areas.push(found(this.#index.areaAt(position)))
    }
    return { areas, next: undefined }
  }

  at(lngUnits: number, latUnits: number, layer?: string): readonly FoundArea[] {
    const at = [lngUnits, latUnits] as const
    return this.search({ layer, at, limit: Number.POSITIVE_INFINITY }).areas
  }

  boundsOf(name: string): GlobeBox | undefined {
    const area = this.find(name)
    return area && globeBoxOf(area.polygons)
  }

  ofLayer(layer: string): LayerAreas | undefined {
    const known = this.#byLayer.get(layer)
    if (known !== undefined) return known
    if (!this.#layers.some((one) => one.layer === layer)) return undefined
    const find = (id: string) => this.find(id)
    const areas = new LayerAreas(layer, this.#index, find)
    this.#byLayer.set(layer, areas)
    return areas
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#tables.root.close()
  }

  #know(name: string, known: string): void {
    if (this.#known.size === limits.areaNamesKnownCount) this.#known.clear()
    this.#known.set(name, known)
  }

  /** @param name  as it is looked up */
  #find(name: string): GazetteerArea | undefined {
    const kept = this.#kept.get(name)
    if (kept !== undefined) return kept
    if (this.#isClosed) {
      throw new ServiceError('Unavailable', 'the areas were replaced meanwhile; send it again')
    }
    const record = this.#tables.areas.get(name)
    if (record === undefined) {
      const other = this.#tables.aliases.get(name)
      return other === undefined || other === name ? undefined : this.#find(other)
    }
    const area = this.#decoded(record)
    this.#kept.add(name, area)
    return area
  }

  #decoded(record: Buffer): StoredArea {
    try {
      return decodeArea(record)
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error
      throw new ServiceError('AreaDamaged', 'what is stored of the area is not what was written')
    }
  }

  /** Keys of the layer that are neighbours of one that is not there. */
  #beside({ prefix, key }: NameParts): string[] {
    const name = lookedUp({ prefix, key })
    if (this.#isClosed) return []
    const behind = this.#tables.areas.getKeys({ start: name, end: `${prefix};`, limit: 2 })
    const before = this.#tables.areas.getKeys({
      start: name,
      end: `${prefix}:`,
      reverse: true,
      limit: 2,
    })
    return [...before, ...behind]
  }

  *#positions({ text, layer, at, start }: Positions): Generator<number> {
    const written = this.#layers.find(
      (one) => one.layer.toLowerCase() === layer?.toLowerCase(),
    )?.layer
    if (layer !== undefined && written === undefined) return
    for (const rank of text === '' ? [0] : [0, 1]) {
      if (rank < (start?.rank ?? 0)) continue
      const first = start?.rank === rank ? start.position : 0
      const candidates =
        at === undefined ? this.#index.matching(text, first) : this.#index.holding(...at)
      for (const position of candidates) {
        if (position < first) continue
        if (written !== undefined && !this.#index.isOf(written, position)) continue
        if (text !== '' && this.#index.rankAt(position, text) !== rank) continue
        if (at !== undefined && !this.#holds(position, at)) continue
        yield position
      }
    }
  }

  #holds(position: number, [lng, lat]: readonly [number, number]): boolean {
    const area = this.find(this.#index.areaAt(position).id)
    return area !== undefined && contains(area.polygons, lng, lat)
  }

  #startBehind(after: string, text: string): { rank: Rank; position: number } {
    const area = this.find(after)
    const position = area && this.#index.positionOf(area)
    const rank = position === undefined ? undefined : this.#index.rankAt(position, text)
    if (position === undefined || rank === undefined) {
      const problem = 'after must be the NextAfter of the page before: begin again without it'
      throw new ServiceError('InvalidRequest', problem, 'after')
    }
    return { rank, position: position + 1 }
  }
}

/** What clients write between a layer and a key in place of the colon. */
const SEPARATOR = /[ /=]/

interface Positions extends Pick<AreaSearch, 'layer' | 'at'> {
  /** Folded. */
  readonly text: string
  readonly start: { readonly rank: Rank; readonly position: number } | undefined
}
