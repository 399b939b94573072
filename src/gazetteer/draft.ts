/**
 * The tables of a version that is being written: layers that are new, and those that stay. What cannot be
 * understood is refused by its layer, its position and its key.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { encodeIndex, type IndexedArea } from './area-index.js'
import { type AreaText, decodeArea, encodeArea, type StoredArea } from './area-record.js'
import { versionDirectory } from './directory.js'
import { type ManifestLayer, readAreasManifest } from './manifest.js'
import { isLayerName, LAYER_RULE, nameOf } from './names.js'
import { type AreaTables, INDEX_KEY, openAreaTables } from './tables.js'

export type LayerFacts = Pick<ManifestLayer, 'layer' | 'source' | 'licence'>

export interface PlacedArea {
  readonly stored: StoredArea
  readonly where: string
}

interface Pending {
  readonly name: string
  readonly record: Buffer
  readonly text: AreaText
  /** Begins what is said of a fault. */
  readonly where: string
}

export class AreasDraft {
  readonly #tables: AreaTables
  readonly #onProgress: ((areaCount: number) => void) | undefined
  readonly #layers: ManifestLayer[] = []
  readonly #indexed: IndexedArea[] = []
  #pending: Pending[] = []
  #pendingBytes = 0

  constructor(tables: AreaTables, onProgress?: (areaCount: number) => void) {
    this.#tables = tables
    this.#onProgress = onProgress
  }

  /** @param areas  of the layer, in their order; what is said of a fault begins with `where` */
  async put(facts: LayerFacts, areas: AsyncIterable<PlacedArea>): Promise<void> {
    const { layer } = facts
    if (!isLayerName(layer)) rejected(`a layer must be called by ${LAYER_RULE}`)
    const tally = tallyOf()
    for await (const { stored, where } of areas) {
      if (tally.areaCount === limits.layerAreaCount) {
        rejected(`${layer} has more than ${limits.layerAreaCount} areas`)
      }
      this.#add(stored, where, tally)
    }
    this.#flush()
    if (tally.areaCount === 0) rejected(`${layer} has no areas`)
    this.#layers.push({ ...facts, ...tally })
  }

  /**
   * Takes over what an older version has beside some layers.
   *
   * @returns the layers of that version
   */
  async keep(dataDirectory: string, version: string, except: readonly string[]): Promise<string[]> {
    const manifest = readAreasManifest(dataDirectory, version)
    const kept = manifest.layers.filter(({ layer }) => !except.some(isSameAs(layer)))
    const old = openAreaTables(versionDirectory(dataDirectory, version), 'read')
    try {
      for (const { layer, areaCount: _, vertexCount: __, aliasCount: ___, ...about } of kept) {
        const facts = { layer, ...about }
        const tally = tallyOf()
        const prefix = layer.toLowerCase()
        for (const { value } of old.areas.getRange({ start: `${prefix}:`, end: `${prefix};` })) {
          const stored = decodeArea(value)
          this.#add(stored, `${stored.id}, which was there before,`, tally)
        }
        this.#flush()
        this.#layers.push({ ...facts, ...tally })
      }
    } finally {
      await old.root.close()
    }
    return manifest.layers.map(({ layer }) => layer)
  }

  refuseDoubles(layers: readonly string[]): void {
    const double = layers.find((layer, at) => layers.slice(0, at).some(isSameAs(layer)))
    if (double !== undefined) rejected(`${double} is given twice`)
  }

  refuseUnknown(removed: readonly string[], known: readonly string[]): void {
    const strange = removed.find((layer) => !known.some(isSameAs(layer)))
    if (strange === undefined) return
    const have = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`
    rejected(`${strange} is no layer of the gazetteer: ${have}`)
  }

  /** Writes the index; nothing may be added any more. */
  finish(): ManifestLayer[] {
    if (this.#layers.length > limits.areaLayerCount) {
      rejected(`the gazetteer would have more than ${limits.areaLayerCount} layers`)
    }
    const { root, areas, aliases, index } = this.#tables
    for (const { key: alias, value } of aliases.getRange({})) {
      if (!areas.doesExist(alias)) continue
      rejected(`${value} has the alias ${alias}, which is the name of another area`)
    }
    root.transactionSync(() => void index.putSync(INDEX_KEY, encodeIndex(this.#indexed)))
    return this.#layers.sort((a, b) => (a.layer.toLowerCase() < b.layer.toLowerCase() ? -1 : 1))
  }

  #add(stored: StoredArea, where: string, tally: ReturnType<typeof tallyOf>): void {
    if (this.#indexed.length === limits.namedAreaCount) {
      rejected(`the gazetteer would have more than ${limits.namedAreaCount} areas`)
    }
    const { id, name, aliases, polygons } = stored
    const record = encodeArea(stored)
    this.#pending.push({ name: nameOf(id), record, text: { id, name, aliases }, where })
    this.#pendingBytes += record.length
    this.#indexed.push({ id, name, aliases, bounds: boundsOf(stored) })
    tally.areaCount++
    tally.vertexCount += polygons.vertices.length / 2
    tally.aliasCount += aliases.length
    const { areasPerWriteCount, areasPerWriteBytes } = limits
    if (this.#pending.length < areasPerWriteCount && this.#pendingBytes < areasPerWriteBytes) return
    this.#flush()
  }

  #flush(): void {
    const { root, areas, aliases } = this.#tables
    root.transactionSync(() => {
      for (const { name, record, text, where } of this.#pending) {
        if (areas.doesExist(name)) rejected(`${where} has the key of an area before it`)
        areas.putSync(name, record)
        for (const alias of text.aliases) {
          const owner = aliases.get(nameOf(alias))
          if (owner !== undefined && owner !== name) {
            rejected(`${where} has the alias ${alias}, which ${owner} has`)
          }
          aliases.putSync(nameOf(alias), name)
        }
      }
    })
    this.#pending = []
    this.#pendingBytes = 0
    this.#onProgress?.(this.#indexed.length)
  }
}

const tallyOf = () => ({ areaCount: 0, vertexCount: 0, aliasCount: 0 })

function boundsOf({ polygons: { bounds } }: StoredArea): IndexedArea['bounds'] {
  const box: [number, number, number, number] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (const [i, value] of bounds.entries()) {
    const side = i % 4
    box[side] = side < 2 ? Math.min(box[side], value) : Math.max(box[side], value)
  }
  return box
}

const isSameAs = (layer: string) => (other: string) => other.toLowerCase() === layer.toLowerCase()

/** @throws OperatorError  InputRejected */
export function rejected(problem: string): never {
  throw new OperatorError('InputRejected', problem)
}
