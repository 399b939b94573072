/**
 * Layers of areas, written into a new version of the gazetteer.
 *
 * @module
 */
import { OperatorError } from '../errors.js'

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
 * @throws OperatorError  InputRejected, naming the area at fault by its layer, key and position
 */
export async function writeLayers(
  _dataDirectory: string,
  _change: LayerChange,
): Promise<WrittenLayers> {
  throw new OperatorError('Failed', 'is not there yet')
}
