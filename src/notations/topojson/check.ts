/**
 * Checks a topology before it is expanded. What topojson-client does not look at would change an area: it
 * takes arcs to join where they do not, reads an unknown type as no geometry, leaves out what it does not know,
 * and expands a few bytes to as many positions as arcs are repeated.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import { limits } from '../../limits.js'
import { tooManyPositions } from '../file-feature.js'
import { type Arcs, checkArcs } from './check-arcs.js'
import {
  failAt,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  type Pair,
  positionAt,
} from './values.js'

/**
 * @param topology  of which the members are not known yet
 * @param object  the one that will be expanded
 * @throws ServiceError  InvalidTopoJson with the path of the member, TooManyVertices or TooComplex
 */
export function checkTopology(
  topology: JsonObject,
  object: JsonObject,
  { path, objectPath, positionCount }: Checked,
): void {
  const isQuantized = checkTransform(topology.transform, `${path}.transform`)
  const arcs = checkArcs(topology.arcs, `${path}.arcs`, isQuantized)
  const checker = new GeometryChecker(arcs, isQuantized, positionCount, path)
  if (object.type === 'GeometryCollection') {
    checker.refuseOwn(object, objectPath)
    for (const [item, at] of geometriesOf(object, objectPath)) checker.check(item, at, 2, true)
  } else checker.check(object, objectPath, 1, true)
}

interface Checked {
  /** Of the topology. */
  readonly path: string
  readonly objectPath: string
  /** How many positions it may be expanded to. */
  readonly positionCount: number
}

/** @returns whether there is one */
function checkTransform(transform: unknown, path: string): boolean {
  if (transform === undefined || transform === null) return false
  const { scale, translate } = objectAt(transform, path)
  const [lngScale, latScale] = positionAt(scale, `${path}.scale`)
  positionAt(translate, `${path}.translate`)
  if (lngScale === 0 || latScale === 0) failAt('must not hold 0', `${path}.scale`)
  return true
}

class GeometryChecker {
  readonly #arcs: Arcs
  readonly #isQuantized: boolean
  readonly #path: string
  readonly #bound: number
  #count = 0

  constructor(arcs: Arcs, isQuantized: boolean, bound: number, path: string) {
    this.#arcs = arcs
    this.#isQuantized = isQuantized
    this.#bound = bound
    this.#path = path
  }

  /** @param isFeature  whether what it has beside its geometry is kept */
  check(geometry: JsonObject, path: string, depth: number, isFeature: boolean): void {
    if (depth > limits.jsonDepthCount) {
      const problem = `nests deeper than ${limits.jsonDepthCount} levels`
      throw new ServiceError('TooComplex', `${this.#path} ${problem}`, this.#path)
    }
    if (isFeature) checkProperties(geometry, path)
    else this.refuseOwn(geometry, path)
    const { type } = geometry
    if (type === undefined || (type !== null && typeof type !== 'string')) {
      failAt('must be the type of a geometry, or null', `${path}.type`)
    }
    const kind = type === null ? NOTHING : KINDS.get(type)
    if (kind === undefined) failAt('is no type of a geometry', `${path}.type`)
    refuseOtherMembers(geometry, kind.member, path)
    if (kind.member === 'geometries') {
      for (const [item, at] of geometriesOf(geometry, path)) this.check(item, at, depth + 1, false)
    } else if (kind.member !== undefined) {
      this.#each(geometry[kind.member], `${path}.${kind.member}`, kind.levels, kind.read)
    }
  }

  /** Properties of what is not a feature would be lost. */
  refuseOwn({ properties }: JsonObject, path: string): void {
    if (properties === undefined || properties === null) return
    if (isObject(properties) && Object.keys(properties).length === 0) return
    failAt('belongs to the geometries right in the object', `${path}.properties`)
  }

  #each(value: unknown, path: string, levels: number, read: 'position' | 'line' | 'ring'): void {
    if (levels === 0) {
      if (read === 'position') this.#position(value, path)
      else this.#line(value, path, read === 'ring')
      return
    }
    for (const [index, item] of listAt(value, path).entries()) {
      this.#each(item, `${path}[${index}]`, levels - 1, read)
    }
  }

  #position(value: unknown, path: string): void {
    const [x, y] = positionAt(value, path)
    if (this.#isQuantized && !(Number.isSafeInteger(x) && Number.isSafeInteger(y))) {
      failAt('must be whole numbers, since the topology has a transform', path)
    }
    this.#add(1)
  }

  /** Arcs that join, and for a ring close. */
  #line(value: unknown, path: string, isRing: boolean): void {
    const references = listAt(value, path)
    if (references.length === 0) failAt('has no arc', path)
    let first: Pair | undefined
    let last: Pair | undefined
    for (const [index, reference] of references.entries()) {
      const at = `${path}[${index}]`
      if (typeof reference !== 'number' || !Number.isInteger(reference)) {
        failAt('must be the index of an arc', at)
      }
      const arc = this.#arcs[reference < 0 ? ~reference : reference]
      if (arc === undefined) failAt('is the index of no arc', at)
      const [begin, end] = reference < 0 ? [arc.last, arc.first] : [arc.first, arc.last]
      if (last !== undefined && !isSame(last, begin))
        failAt('does not begin where the arc before it ends', at)
      // The position where two arcs join is one.
      this.#add(index === 0 ? arc.positionCount : arc.positionCount - 1)
      first ??= begin
      last = end
    }
    if (isRing && !isSame(first as Pair, last as Pair)) {
      failAt('is a ring that does not end where it begins', path)
    }
  }

  #add(count: number): void {
    this.#count += count
    if (this.#count > this.#bound) throw tooManyPositions(this.#bound, this.#path)
  }
}

function isSame(one: Pair, other: Pair): boolean {
  return one[0] === other[0] && one[1] === other[1]
}

function* geometriesOf(collection: JsonObject, path: string): Generator<[JsonObject, string]> {
  refuseOtherMembers(collection, 'geometries', path)
  for (const [index, item] of listAt(collection.geometries, `${path}.geometries`).entries()) {
    const at = `${path}.geometries[${index}]`
    yield [objectAt(item, at), at]
  }
}

function checkProperties({ properties, id }: JsonObject, path: string): void {
  if (properties !== undefined && properties !== null) objectAt(properties, `${path}.properties`)
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    failAt('must be a text or a number', `${path}.id`)
  }
}

interface Kind {
  /** What holds its arcs or positions. */
  readonly member: 'arcs' | 'coordinates' | 'geometries' | undefined
  /** Of lists round them. */
  readonly levels: number
  readonly read: 'position' | 'line' | 'ring'
}

/** Of the type null. */
const NOTHING: Kind = { member: undefined, levels: 0, read: 'position' }

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['Point', { member: 'coordinates', levels: 0, read: 'position' }],
  ['MultiPoint', { member: 'coordinates', levels: 1, read: 'position' }],
  ['LineString', { member: 'arcs', levels: 0, read: 'line' }],
  ['MultiLineString', { member: 'arcs', levels: 1, read: 'line' }],
  ['Polygon', { member: 'arcs', levels: 1, read: 'ring' }],
  ['MultiPolygon', { member: 'arcs', levels: 2, read: 'ring' }],
  ['GeometryCollection', { member: 'geometries', levels: 0, read: 'position' }],
])

/** What would be lost: a radius beside `properties`, arcs of a point. */
function refuseOtherMembers(geometry: JsonObject, own: string | undefined, path: string): void {
  for (const name in geometry) {
    if (name !== own && !COMMON.includes(name)) {
      const problem =
        'has a member that TopoJSON does not define for it: put it into its properties'
      failAt(problem, path)
    }
  }
}

const COMMON = ['type', 'id', 'properties', 'bbox']
