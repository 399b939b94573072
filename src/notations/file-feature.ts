/**
 * What the readers of files share: features with what they are known by, which an importer of areas wants,
 * and the bounds within which they are read. A request has neither names nor data of placemarks: data that
 * is called `radius` or `exclude` in a file of another program must not change whom a feature selects.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { limits } from '../limits.js'
import type { DrawnCollection, DrawnGeometry } from './drawn.js'

export interface FileFeature {
  readonly id: string | number | undefined
  readonly name: string | undefined
  /** What the file says of it, by name; of KML all values are texts. */
  readonly properties: Readonly<Record<string, unknown>>
  /** Null where it has none, so that the reader of drawings can say so. */
  readonly geometry: DrawnGeometry | null
}

export interface FileBounds {
  /** Positions of all features together. */
  readonly positionCount: number
  /** Of XML. */
  readonly elementCount: number
  /** Of XML, over all elements. */
  readonly attributeCount: number
  /** Of XML; no bound unless given. */
  readonly charCount?: number
}

/** Those of a request; an importer has wider ones. */
export const REQUEST_BOUNDS: FileBounds = {
  positionCount: limits.vertexCount,
  elementCount: limits.xmlElementCount,
  attributeCount: limits.xmlAttributeCount,
  charCount: limits.xmlCharCount,
}

/** Features of these geometries, without any property. */
export function drawnOf(geometries: readonly (DrawnGeometry | null)[]): DrawnCollection {
  return {
    type: 'FeatureCollection',
    features: geometries.map((geometry) => ({ type: 'Feature', geometry, properties: {} })),
  }
}

/** Names what is wrong with a file of XML, and counts its positions. */
export class XmlReading {
  readonly #code: ServiceErrorCode
  readonly #path: string
  readonly #positionCountMax: number
  #positionCount = 0

  constructor(code: ServiceErrorCode, path: string, bounds: FileBounds) {
    this.#code = code
    this.#path = path
    this.#positionCountMax = bounds.positionCount
  }

  /** @throws ServiceError  TooManyVertices */
  countPosition(): void {
    if (++this.#positionCount > this.#positionCountMax) {
      throw tooManyPositions(this.#positionCountMax, this.#path)
    }
  }

  /**
   * @param problem  what is wrong and what to do, without a word of the document
   * @param at  the element that it is about
   */
  fail(problem: string, at: { readonly line: number }): never {
    throw new ServiceError(this.#code, `${this.#path} ${problem} (line ${at.line})`, this.#path)
  }
}

export function tooManyPositions(bound: number, path: string): ServiceError {
  return new ServiceError('TooManyVertices', `${path} has more than ${bound} positions`, path)
}
