/**
 * The polygons of one feature in degrees of WGS 84. Vertices are projected, and edges are straight in
 * longitude and latitude afterwards.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { nestRings } from '../../geometry/esri/esri-rings.js'
import { type UnitRing, unwrapRing } from '../../geometry/polygon/antimeridian.js'
import { ringBudget } from '../../geometry/ring-budget.js'
import { toUnits } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import type { Position } from '../../notations/drawn.js'
import type { Projection } from '../crs/projection.js'
import type { AreaGeometry } from '../files/area-file.js'

export type PolygonRings = readonly (readonly Position[])[]

/**
 * @param where  the file and the feature, for messages
 * @param isCertain  whether somebody has said what the coordinates are
 * @throws OperatorError  InputRejected for what is no area, or lies where no degrees are
 */
export function polygonsOf(
  geometry: AreaGeometry | null,
  where: string,
  projection: Projection,
  isCertain: boolean,
): PolygonRings[] {
  const fail = (problem: string): never => {
    throw new OperatorError('InputRejected', `${where} ${problem}`)
  }
  if (geometry === null) return fail('has no geometry')
  const place: Place = { projection, isCertain, fail }
  const polygons = [...found(geometry, place)]
  return polygons.length === 0 ? fail('has an empty geometry') : polygons
}

interface Place {
  readonly projection: Projection
  readonly isCertain: boolean
  readonly fail: (problem: string) => never
}

function* found(geometry: AreaGeometry, place: Place): Generator<PolygonRings> {
  switch (geometry.type) {
    case 'Polygon':
      yield* polygon(geometry.coordinates, place)
      return
    case 'MultiPolygon':
      for (const rings of listOf(geometry.coordinates, place)) yield* polygon(rings, place)
      return
    case 'GeometryCollection':
      for (const part of listOf(geometry.geometries, place)) yield* found(part, place)
      return
    case 'Rings':
      yield* nested(
        listOf(geometry.coordinates, place).map((ring) => degreesOf(ring, place)),
        place,
      )
      return
    default: {
      const type = String((geometry as { type?: unknown })?.type).slice(0, 30)
      place.fail(`is a ${type}, which is no area`)
    }
  }
}

function* polygon(rings: PolygonRings, place: Place): Generator<PolygonRings> {
  const found = listOf(rings, place).map((ring) => degreesOf(ring, place))
  // GDAL writes empty polygons as no rings.
  if (found.length > 0) yield found
}

/** Which ring is a hole of which is told by how they lie, as for Esri JSON. */
function nested(rings: readonly Position[][], place: Place): PolygonRings[] {
  if (rings.length <= 1) return rings.map((ring) => [ring])
  const byUnits = new Map<UnitRing, Position[]>()
  const flat: PolygonRings[] = []
  for (const ring of rings) {
    const open = openRing(ring, place)
    const units = open.flatMap(([lng, lat]) => [toUnits(lng), toUnits(lat)])
    const unwrapped = unwrapRing({ units, lngDegreesAt: (vertex) => open[vertex][0] })
    if (typeof unwrapped === 'string') {
      return place.fail(`has a ring without one meaning (${unwrapped})`)
    }
    // By itself, whatever it lies in: on it somebody is inside of it or of what it is a hole of.
    if (new Set(open.map(String)).size < 3) flat.push([ring])
    else byUnits.set(unwrapped, ring)
  }
  const polygons = nestRings([...byUnits.keys()], ringBudget(limits.areaRingComparisonCount))
  if (polygons === 'CrossingRings') {
    return place.fail('has rings that cross, so that nobody can say which are holes: repair it')
  }
  if (polygons === 'TooManyComparisons')
    return place.fail('has more rings than can be compared: cut it')
  const nested = polygons.map(({ shell, holes }) =>
    [shell, ...holes].map((ring) => byUnits.get(ring) as Position[]),
  )
  return [...nested, ...flat]
}

/** Without its last position. */
function openRing(ring: readonly Position[], { fail }: Place): readonly Position[] {
  const last = ring.length - 1
  const isClosed = last >= 3 && ring[0][0] === ring[last][0] && ring[0][1] === ring[last][1]
  if (!isClosed) fail('has a ring that is not closed or has fewer than four positions')
  return ring.slice(0, last)
}

function degreesOf(ring: readonly Position[], place: Place): Position[] {
  return listOf(ring, place).map((position) => {
    const [x, y] = Array.isArray(position) ? (position as readonly unknown[]) : []
    if (
      typeof x !== 'number' ||
      typeof y !== 'number' ||
      !Number.isFinite(x) ||
      !Number.isFinite(y)
    ) {
      return place.fail('has a position that is not two numbers')
    }
    return degreesAt(x, y, place)
  })
}

function degreesAt(x: number, y: number, { projection, isCertain, fail }: Place): Position {
  const at = projection.toDegrees(x, y)
  if (at === undefined) {
    return fail(
      `has the position ${x},${y}, where ${projection.name} has no longitude and latitude`,
    )
  }
  const [lng, lat] = at
  // Where degrees are certain, what is drawn beyond the antimeridian is taken as drawn.
  if (Math.abs(lat) <= 90 && Math.abs(lng) <= (isCertain ? LNG_DRAWN_MAX : 180)) return at
  if (!isCertain) {
    return fail(
      `has the position ${x},${y}, which is beyond ±180,±90, and the file does not say what its coordinates ` +
        'are: say it with --crs, such as --crs EPSG:26915',
    )
  }
  const isExchanged = Math.abs(lng) <= 90 && Math.abs(lat) <= 180
  return fail(
    `has the position ${x},${y}, which is beyond ±${isExchanged ? '90 in latitude: are longitude and latitude exchanged?' : '180,±90'}`,
  )
}

const LNG_DRAWN_MAX = 540

function listOf<Item>(value: readonly Item[], { fail }: Place): readonly Item[] {
  return Array.isArray(value) ? value : fail('has coordinates that are no list')
}
