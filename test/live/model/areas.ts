/**
 * Shapes of requests, and who is inside them by plain comparison.
 *
 * @module
 */
import { haversineMetres } from '../../../src/geometry/great-circle.js'
import { UNITS_PER_DEGREE } from '../../../src/geometry/units.js'
import type { Random } from '../../support/random/world.js'
import type { Person } from './people.js'

/** A box, a box with a hole, or the people around a point whose distance is nobody's. */
export function randomArea(random: Random) {
  const box = () => {
    const [west, east] = [random.between(-210, 200), random.between(-190, 210)].sort(
      (a, b) => a - b,
    )
    const [south, north] = [random.between(-210, 200), random.between(-190, 210)].sort(
      (a, b) => a - b,
    )
    const isIn = ({ lng, lat }: Person) =>
      lng >= west && lng <= east && lat >= south && lat <= north
    // Edges lie half a hundredth beyond those who are inside.
    const [w, e] = [west / 100 - 0.005, east / 100 + 0.005]
    const [s, n] = [south / 100 - 0.005, north / 100 + 0.005]
    const ring = [
      [w, s],
      [e, s],
      [e, n],
      [w, n],
      [w, s],
    ]
    return { geometry: { type: 'Polygon', coordinates: [ring] }, isIn }
  }
  if (random.unit() < 0.2) return randomCircle(random)
  const first = box()
  const feature = (geometry: object, properties: object = {}) => ({
    type: 'Feature',
    geometry,
    properties,
  })
  if (random.unit() < 0.5) return { drawing: feature(first.geometry), isInside: first.isIn }
  const second = box()
  const isHole = random.unit() < 0.5
  const features = [feature(first.geometry), feature(second.geometry, { exclude: isHole })]
  return {
    drawing: { type: 'FeatureCollection', features },
    isInside: (person: Person) =>
      isHole
        ? first.isIn(person) && !second.isIn(person)
        : first.isIn(person) || second.isIn(person),
  }
}

function randomCircle(random: Random) {
  const [lng, lat] = [random.between(-250, 250), random.between(-250, 250)]
  // Nobody is just so far away.
  const radius = random.between(1, 300_000) + 0.123
  const geometry = { type: 'Point', coordinates: [lng / 100, lat / 100] }
  return {
    drawing: { type: 'Feature', properties: { radius }, geometry },
    isInside: (person: Person) =>
      haversineMetres(lng * UNITS, lat * UNITS, person.lng * UNITS, person.lat * UNITS) <= radius,
  }
}

export const everybody = () => ({
  geoJSON: {
    type: 'Polygon',
    coordinates: [
      [
        [-3, -3],
        [3, -3],
        [3, 3],
        [-3, 3],
        [-3, -3],
      ],
    ],
  },
})

/** Of a hundredth of a degree. */
export const UNITS = UNITS_PER_DEGREE / 100
