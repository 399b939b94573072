/**
 * Requests whose cost is in the search: so the service is at its limit long before those who send
 * them are.
 *
 * @module
 */
import type { Polygon } from 'geojson'
import { type Random, seededRandom } from '../../test/support/random/world.js'
import type { Positions } from './drawn.js'
import { areaFeature, circleFeature, type Selection } from './requests.js'

/** Counts, in turn of one large polygon and of ten circles that overlap or not. */
export function heavySelections(positions: Positions, count: number, seed: number): Selection[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, at) => ({
    features:
      at % 2 === 0
        ? [areaFeature(largePolygon(positions, random))]
        : Array.from({ length: CIRCLE_COUNT }, () => largeCircle(positions, random)),
    countsOnly: true,
  }))
}

const VERTEX_COUNT = 500
const POLYGON_METRES_MIN = 200_000
const POLYGON_METRES_MAX = 500_000
const CIRCLE_COUNT = 10
const CIRCLE_METRES = 100_000
const METRES_PER_DEGREE = 111_195
/** Beyond which a degree of longitude is too short for such shapes. */
const LAT_MAX = 60

function largeCircle(positions: Positions, random: Random) {
  const [lng, lat] = somewhere(positions, random)
  return circleFeature(lng, lat, CIRCLE_METRES)
}

/** A star of long and short rays, so that its boundary is long. */
function largePolygon(positions: Positions, random: Random): Polygon {
  const [lng, lat] = somewhere(positions, random)
  const range = POLYGON_METRES_MAX - POLYGON_METRES_MIN
  const reach = (POLYGON_METRES_MIN + range * random.unit()) / METRES_PER_DEGREE
  const width = 1 / Math.cos((lat * Math.PI) / 180)
  const ring = Array.from({ length: VERTEX_COUNT }, (_, at) => {
    const angle = (2 * Math.PI * (at + 0.8 * random.unit())) / VERTEX_COUNT
    const ray = reach * (0.4 + 0.6 * random.unit())
    return [decimals(lng + ray * width * Math.cos(angle)), decimals(lat + ray * Math.sin(angle))]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

/** Where a recipient is, but not in the far north. */
function somewhere({ lngs, lats }: Positions, random: Random): [lng: number, lat: number] {
  for (;;) {
    const row = random.between(0, lngs.length - 1)
    if (Math.abs(lats[row] / 1e7) <= LAT_MAX) return [lngs[row] / 1e7, lats[row] / 1e7]
  }
}

function decimals(degrees: number): number {
  return Number(degrees.toFixed(7))
}
