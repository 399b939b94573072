/**
 * The baseline, what would be written in an afternoon: KDBush on degrees, the bounding box, and
 * a point-in-polygon library for what lies in it.
 *
 * @module
 */
import type { Position } from 'geojson'
import KDBush from 'kdbush'
import pointInPolygon from 'point-in-polygon-hao'
import { UNITS_PER_DEGREE } from '../../../src/geometry/units.js'

export interface NaiveIndex {
  readonly index: KDBush
  /** Degrees. */
  readonly lngs: Float64Array
  readonly lats: Float64Array
}

/** A polygon of a shape with its bounding box. */
export interface NaivePolygon {
  readonly rings: Rings
  readonly minLng: number
  readonly minLat: number
  readonly maxLng: number
  readonly maxLat: number
}

interface Positions {
  readonly lngs: Int32Array
  readonly lats: Int32Array
}

/** @param lngs  and `lats`, in units of 1e-7 degree */
export function buildNaiveIndex({ lngs, lats }: Positions): NaiveIndex {
  const recipientCount = lngs.length
  const degrees = (units: Int32Array) => Float64Array.from(units, (unit) => unit / UNITS_PER_DEGREE)
  const naive = { index: new KDBush(recipientCount), lngs: degrees(lngs), lats: degrees(lats) }
  for (let row = 0; row < recipientCount; row++) naive.index.add(naive.lngs[row], naive.lats[row])
  naive.index.finish()
  return naive
}

export function toNaivePolygon(rings: readonly (readonly Position[])[]): NaivePolygon {
  const lngs = rings.flat().map(([lng]) => lng)
  const lats = rings.flat().map(([, lat]) => lat)
  return {
    rings: rings as Rings,
    minLng: Math.min(...lngs),
    minLat: Math.min(...lats),
    maxLng: Math.max(...lngs),
    maxLat: Math.max(...lats),
  }
}

/**
 * Counts the recipients inside or on the edge of any of the polygons, which must not overlap.
 *
 * A box for each polygon rather than one for all: the islands of one county may lie on both sides
 * of the antimeridian, and one box would be the whole globe.
 */
export function naiveCount(
  { index, lngs, lats }: NaiveIndex,
  polygons: readonly NaivePolygon[],
): number {
  let count = 0
  const point: [number, number] = [0, 0]
  for (const { rings, minLng, minLat, maxLng, maxLat } of polygons) {
    for (const row of index.range(minLng, minLat, maxLng, maxLat)) {
      point[0] = lngs[row]
      point[1] = lats[row]
      // It says 0 on the edge, and false outside.
      if (pointInPolygon(point, rings) !== false) count++
    }
  }
  return count
}

type Rings = [number, number][][]
