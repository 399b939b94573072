/**
 * The boundary beyond which nobody is counted or listed: which one holds for a request. There may be one
 * of the configuration and one of the key that was sent; then only those are there who are within both.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.js'
import { layerArrays, layerSize } from '../geometry/layer-parts.js'
import type { Layer } from '../geometry/shapes.js'
import type { Access } from './access.js'
import { validate } from './validate.js'

export interface Boundary {
  /** The same for the same area, however it came here. */
  readonly key: string
  /** Whoever is within every one of them is within; in an area is whoever any of its layers covers. */
  readonly areas: readonly (readonly Layer[])[]
  /** Whether the answer may not even hint at anybody beyond. */
  readonly isSecret: boolean
}

export interface BoundaryRule {
  /**
   * The boundary that holds for a request.
   *
   * @param isAsked  the member `clipToBoundary`, where it is given. Where the boundary holds for every
   *   request, `false` changes nothing
   * @param access  of the client: the boundary of a key always holds
   * @throws ServiceError  InvalidRequest or BoundaryMissing, where it must hold and there is none;
   *   Forbidden, where that of the key cannot be read
   */
  for(isAsked: boolean | undefined, access: Access): Boundary | undefined
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
    return configured === undefined ? NONE : knownBoundary(configured, CONFIGURED)
  }

  function configured(isAsked: boolean | undefined): Boundary | undefined {
    if (!isAlways && isAsked !== true) return undefined
    const boundary = read()
    if (typeof boundary !== 'string') return boundary
    if (isAlways) throw new ServiceError('BoundaryMissing', `${boundary}, and ${REFUSED}`)
    throw new ServiceError('InvalidRequest', boundary, 'clipToBoundary')
  }

  return {
    for(isAsked, access) {
      const own = configured(isAsked)
      if (access.boundary === undefined) return own
      const ofKey = knownBoundary(access.boundary, OF_KEY)
      if (typeof ofKey === 'string') throw new ServiceError('Forbidden', ofKey)
      return own === undefined ? ofKey : knownBoth(own, ofKey)
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

/** Where boundaries come from. */
interface Origin {
  readonly name: string
  readonly isSecret: boolean
  /** What each geometry is, or what is wrong with it. */
  readonly known: WeakMap<object, Boundary | string>
}

const CONFIGURED: Origin = {
  name: 'the customer boundary of the configuration',
  isSecret: false,
  known: new WeakMap(),
}

const OF_KEY: Origin = { name: 'the boundary of this key', isSecret: true, known: new WeakMap() }

function knownBoundary(geometry: object, origin: Origin): Boundary | string {
  const before = origin.known.get(geometry)
  if (before !== undefined) return before
  const boundary = readBoundary(geometry, origin)
  origin.known.set(geometry, boundary)
  return boundary
}

function readBoundary(geometry: object, { name, isSecret }: Origin): Boundary | string {
  try {
    const { included, excluded, nearest } = validate({ geoJSON: geometry }).shapes
    // Not to be taken for a boundary that nobody is within.
    if (included.every((layer) => layerSize(layer) === 0))
      return isSecret ? `${name} is empty` : NONE
    const isPlain = excluded.length + nearest.length === 0 && included.every(isOfPolygons)
    if (!isPlain) return `${name} must be polygons and nothing else`
    return { key: keyOf(included), areas: [included], isSecret }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // Not the client's shapes are at fault.
    return `${name} is not a valid shape (${error.code})`
  }
}

function isOfPolygons({ sourceIds, reaches }: Layer): boolean {
  return sourceIds === null && reaches.radiiMetres.length === 0
}

/** By the boundary of the configuration, then by that of the key. */
const pairs = new WeakMap<Boundary, WeakMap<Boundary, Boundary>>()

function knownBoth(own: Boundary, ofKey: Boundary): Boundary {
  const byKey = pairs.get(own) ?? new WeakMap<Boundary, Boundary>()
  pairs.set(own, byKey)
  const before = byKey.get(ofKey)
  if (before !== undefined) return before
  const both = {
    key: `${own.key}+${ofKey.key}`,
    areas: [...own.areas, ...ofKey.areas],
    isSecret: true,
  }
  byKey.set(ofKey, both)
  return both
}

function keyOf(layers: readonly Layer[]): string {
  const arrays = layers.flatMap(layerArrays)
  // Lengths go before contents: what is drawn otherwise is then never the same bytes.
  const hash = createHash('sha256').update(JSON.stringify(arrays.map(({ length }) => length)))
  for (const array of arrays) hash.update(array)
  return hash.digest('hex').slice(0, 32)
}
