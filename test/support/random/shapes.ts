/**
 * Seeded random shapes for property tests, all within half a degree or so of a given position, so
 * that they hold some recipients. With 7 decimals, as they have unless a pen writes more, a position
 * and a vertex can be the same; rings are closed, of either winding.
 *
 * @module
 */
import { type Pen, sevenDecimals } from './fine-coordinates.js'
import { GRID_UNITS, type Random } from './world.js'

/** Coordinates of a GeoJSON MultiPolygon, in degrees. */
export type MultiPolygonCoordinates = number[][][][]

/**
 * - `drawn`: what a person draws, 5 to 12 vertices, 1 to 20 km
 * - `grid`: vertices at the corners of the cells of a `grid` world, so that recipients lie on edges
 *   and vertices; may cross itself or come back to a vertex
 * - `selfCrossing`: a few vertices in any order
 * - `holes`: holes inside the shell, across one another, out of the shell, or equal to it
 * - `members`: several polygons that may overlap
 * - `sliver`: through the given position, 1e-7 degree wide
 * - `flat`: no area: a line there and back
 */
export const shapeKinds = [
  'drawn',
  'grid',
  'selfCrossing',
  'holes',
  'members',
  'sliver',
  'flat',
] as const
export type ShapeKind = (typeof shapeKinds)[number]

/** A shape of this kind around the position, which is in units of 1e-7 degree. */
export function randomShape(
  kind: ShapeKind,
  random: Random,
  lngUnits: number,
  latUnits: number,
  pen: Pen = sevenDecimals,
): MultiPolygonCoordinates {
  const draw = () =>
    builders[kind](random, [lngUnits, latUnits]).map((rings) =>
      rings.map((ring) => closed(wound(ring, random)).map(pen)),
    )
  let polygons = draw()
  while (!polygons.flat().every(hasThreePoints)) polygons = draw()
  return polygons
}

/** Rings of fewer different points are refused. */
function hasThreePoints(ring: readonly (readonly number[])[]): boolean {
  return new Set(ring.map((vertex) => vertex.join())).size >= 3
}

/** In units of 1e-7 degree. */
type Vertex = readonly [lng: number, lat: number]
type OpenRing = readonly Vertex[]
type Polygons = readonly (readonly OpenRing[])[]

const KM_UNITS = 90_000
const LAT_UNITS_MAX = 900_000_000

const builders: Record<ShapeKind, (random: Random, centre: Vertex) => Polygons> = {
  drawn: (random, centre) => [[star(random, centre, drawnRadius(random))]],
  grid: gridPolygon,
  selfCrossing: (random, centre) => [[scribble(random, centre, drawnRadius(random))]],
  holes: polygonWithHoles,
  members: overlappingMembers,
  sliver: sliverPolygon,
  flat: flatPolygon,
}

/** 1 to 20 km, as many below 4.5 km as above. */
function drawnRadius(random: Random): number {
  return KM_UNITS * 20 ** random.unit()
}

/** Simple: its vertices go once round the centre, no two of them half a turn apart. */
function star(random: Random, centre: Vertex, radius: number): OpenRing {
  const vertexCount = random.between(5, 12)
  return Array.from({ length: vertexCount }, (_, index) => {
    const turn = (index + 0.8 * random.unit()) / vertexCount
    return at(centre, turn, radius * (0.4 + 0.6 * random.unit()))
  })
}

function at([lng, lat]: Vertex, turn: number, distance: number): Vertex {
  const angle = 2 * Math.PI * turn
  // Wide enough to look round on a map, but not across the antimeridian near the poles.
  const width = Math.min(3, 1 / Math.cos((Math.PI * lat) / 2 / LAT_UNITS_MAX))
  const north = lat + Math.round(distance * Math.sin(angle))
  return [
    lng + Math.round(distance * width * Math.cos(angle)),
    Math.max(-LAT_UNITS_MAX, Math.min(LAT_UNITS_MAX, north)),
  ]
}

function scribble(random: Random, centre: Vertex, radius: number): OpenRing {
  const vertexCount = random.between(4, 9)
  return Array.from({ length: vertexCount }, () =>
    at(centre, random.unit(), radius * random.unit()),
  )
}

function gridPolygon(random: Random, [lng, lat]: Vertex): Polygons {
  const snap = (units: number) => Math.round(units / GRID_UNITS) * GRID_UNITS
  const cells = (reach: number) => random.between(-reach, reach) * GRID_UNITS
  const corner = (reach: number): Vertex => [snap(lng) + cells(reach), clampedLat(lat, reach)]
  const clampedLat = (units: number, reach: number) =>
    Math.max(-LAT_UNITS_MAX, Math.min(LAT_UNITS_MAX, snap(units) + cells(reach)))
  const ringCount = random.pick([1, 1, 1, 2, 3])
  const ring = () => {
    const [[west, south], [east, north]] = [corner(6), corner(6)]
    const box: OpenRing = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ]
    return random.unit() < 0.3
      ? box
      : Array.from({ length: random.between(3, 8) }, () => corner(random.pick([2, 6])))
  }
  return [Array.from({ length: ringCount }, ring)]
}

function polygonWithHoles(random: Random, centre: Vertex): Polygons {
  const radius = drawnRadius(random)
  const shell = star(random, centre, radius)
  const hole = (): OpenRing => {
    switch (random.between(0, 9)) {
      case 0:
        return shell
      case 1: // leaves the shell, and shares a vertex with it now and then
        return [shell[0], ...star(random, random.pick(shell), radius / 2).slice(1)]
      case 2: // far outside
        return star(random, at(centre, random.unit(), 3 * radius), radius / 2)
      case 3:
        return scribble(random, centre, radius)
      default: // inside, but across others of its sort
        return star(random, at(centre, random.unit(), radius / 8), radius / 4)
    }
  }
  return [[shell, ...Array.from({ length: random.between(1, 4) }, hole)]]
}

function overlappingMembers(random: Random, centre: Vertex): Polygons {
  const radius = drawnRadius(random)
  const member = () => {
    const middle = at(centre, random.unit(), radius * random.unit() * 1.5)
    return random.unit() < 0.3
      ? polygonWithHoles(random, middle)[0]
      : [star(random, middle, radius)]
  }
  return Array.from({ length: random.between(2, 4) }, member)
}

function sliverPolygon(random: Random, centre: Vertex): Polygons {
  const [from, to] = lineThrough(random, centre)
  const beside = ([lng, lat]: Vertex): Vertex =>
    from[0] === to[0] ? [lng + 1, lat] : [lng, lat < LAT_UNITS_MAX ? lat + 1 : lat - 1]
  return [[[from, to, beside(to), beside(from)]]]
}

function flatPolygon(random: Random, centre: Vertex): Polygons {
  const [from, to] = lineThrough(random, centre)
  return [
    [
      random.pick([
        [from, centre, to],
        [centre, from, centre, to],
        [from, centre, to, centre],
      ]),
    ],
  ]
}

/** Two ends with the position in the middle; every third line is along a meridian or parallel. */
function lineThrough(random: Random, [lng, lat]: Vertex): [Vertex, Vertex] {
  const reach = Math.min(200_000, LAT_UNITS_MAX - Math.abs(lat))
  const east = random.between(-200_000, 200_000)
  const north = random.between(-reach, reach)
  const [dx, dy] = random.pick([
    [east, north],
    [east, north],
    [east, north],
    [east, north],
    [east, 0],
    [0, north],
  ])
  return [
    [lng - dx, lat - dy],
    [lng + dx, lat + dy],
  ]
}

function wound(ring: OpenRing, random: Random): OpenRing {
  return random.unit() < 0.5 ? ring : ring.toReversed()
}

function closed(ring: OpenRing): OpenRing {
  return [...ring, ring[0]]
}
