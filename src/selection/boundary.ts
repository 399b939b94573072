/**
 * The boundary beyond which nobody is counted or listed: which one holds for a request.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.js'
import { layerArrays, layerSize } from '../geometry/layer-parts.js'
import type { Layer } from '../geometry/shapes.js'
import { validate } from './validate.js'

export interface Boundary {
  /** The same for the same area, however it came here. */
  readonly key: string
  /** Whoever any of them covers is within. */
  readonly layers: readonly Layer[]
}

export interface BoundaryRule {
  /**
   * The boundary that holds for a request.
   *
   * @param isAsked  the member `clipToBoundary`, where it is given. Where the boundary holds for every
   *   request, `false` changes nothing
   * @throws ServiceError  InvalidRequest or BoundaryMissing, where it must hold and there is none
   */
  for(isAsked: boolean | undefined): Boundary | undefined
  /** Why every request is refused; undefined where that is not so. */
  fault(): string | undefined
}

/**
 * The rule of a service.
 *
 * @param geometry  the boundary as the configuration has it: the same object for as long as it is the same
 * @param isAlways  whether it holds for every request
 */
export function createBoundaryRule(
  geometry: () => object | undefined,
  isAlways: boolean,
): BoundaryRule {
  const read = (): Boundary | string => {
    const configured = geometry()
    return configured === undefined ? NONE : knownBoundary(configured)
  }
  return {
    for(isAsked) {
      if (!isAlways && isAsked !== true) return undefined
      const boundary = read()
      if (typeof boundary !== 'string') return boundary
      if (isAlways) throw new ServiceError('BoundaryMissing', `${boundary}, and ${REFUSED}`)
      throw new ServiceError('InvalidRequest', boundary, 'clipToBoundary')
    },
    fault() {
      const boundary = isAlways ? read() : undefined
      return typeof boundary === 'string' ? `${boundary}, and ${REFUSED}` : undefined
    },
  }
}

/** Of a service without a configuration. */
export const NO_BOUNDARY = createBoundaryRule(() => undefined, false)

const NONE = 'no customer boundary is configured'
const REFUSED = 'this service answers nothing without one (clipRecipientsToBoundary)'

/** What a configured geometry is, or what is wrong with it. */
const known = new WeakMap<object, Boundary | string>()

function knownBoundary(geometry: object): Boundary | string {
  const before = known.get(geometry)
  if (before !== undefined) return before
  const boundary = readBoundary(geometry)
  known.set(geometry, boundary)
  return boundary
}

function readBoundary(geometry: object): Boundary | string {
  try {
    const { included } = validate({ geoJSON: geometry }).shapes
    // Not to be taken for a boundary that nobody is within.
    if (included.every((layer) => layerSize(layer) === 0)) return NONE
    return { key: keyOf(included), layers: included }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // Not the client's shapes are at fault.
    return `the customer boundary of the configuration is not a valid shape (${error.code})`
  }
}

function keyOf(layers: readonly Layer[]): string {
  const arrays = layers.flatMap(layerArrays)
  // Lengths go before contents: what is drawn otherwise is then never the same bytes.
  const hash = createHash('sha256').update(JSON.stringify(arrays.map(({ length }) => length)))
  for (const array of arrays) hash.update(array)
  return hash.digest('hex').slice(0, 32)
}
