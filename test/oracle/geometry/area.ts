/**
 * The places that a recipient request selects, and which of them are too near to their border for
 * an outline of some tolerance to tell.
 *
 * @module
 */

import { type Region, without } from '../verdict.js'
import { type Members, memberOf, readGeometry, union } from './geometry.js'

export interface AskedArea {
  readonly region: Region
  /** The largest radius that is asked for, in metres; 0 if there is none. */
  readonly radiusMetres: number
}

/** @param sourceId  the source for which the area is asked */
export function areaOf(request: Members, sourceId: number): AskedArea {
  const features = featuresOf(memberOf(request, 'geojson')).map((feature) => {
    const properties = memberOf(feature, 'properties')
    const metres = memberOf(properties, 'radius', 'buffer') as number | undefined
    const sources = memberOf(properties, 'sources') as number[] | undefined
    return {
      excludes: memberOf(properties, 'exclude') === true,
      isThere: sources === undefined || sources.includes(sourceId),
      metres: metres ?? 0,
      region: readGeometry(memberOf(feature, 'geometry'), metres),
    }
  })
  const regionOf = (excludes: boolean) =>
    union(
      features.flatMap((each) => (each.isThere && each.excludes === excludes ? each.region : [])),
    )
  const [included, excluded] = [regionOf(false), regionOf(true)]
  return {
    region: (lng, lat) => without(included(lng, lat), excluded(lng, lat)),
    radiusMetres: Math.max(0, ...features.map(({ metres }) => metres)),
  }
}

const METRES_PER_UNIT = (Math.PI * 6_371_000) / 1_800_000_000
const DIRECTIONS = Array.from({ length: 16 }, (_, at) => (at * Math.PI) / 8)

/** Whether places within a tolerance are not all as the place itself is. */
export function isBesideBorder(
  region: Region,
  lngUnits: number,
  latUnits: number,
  toleranceMetres: number,
): boolean {
  const verdict = region(lngUnits, latUnits)
  if (verdict === 'either') return true
  const width = Math.max(1e-9, Math.cos((latUnits / 1e7) * (Math.PI / 180)))
  return [0.1, 0.4, 0.7, 1].some((share) =>
    DIRECTIONS.some((direction) => {
      const units = (share * toleranceMetres) / METRES_PER_UNIT
      const lng = Math.round(lngUnits + (units * Math.cos(direction)) / width)
      const lat = Math.round(latUnits + units * Math.sin(direction))
      return region(...onGlobe(lng, lat)) !== verdict
    }),
  )
}

/** Beyond a pole is on the other side of it. */
function onGlobe(lng: number, lat: number): [number, number] {
  if (lat > 900_000_000) return onGlobe(lng + 1_800_000_000, 1_800_000_000 - lat)
  if (lat < -900_000_000) return onGlobe(lng + 1_800_000_000, -1_800_000_000 - lat)
  return [lng - 3_600_000_000 * Math.round(lng / 3_600_000_000), lat]
}

/** The features of a collection, a feature by itself, or a geometry as if it were in one. */
function featuresOf(geoJSON: unknown): readonly unknown[] {
  const features = memberOf(geoJSON, 'features', 'shapes')
  if (Array.isArray(features)) return features
  return memberOf(geoJSON, 'geometry') === undefined ? [{ geometry: geoJSON }] : [geoJSON]
}
