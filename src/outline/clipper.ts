/**
 * Unions and differences of polygons; the only user of polygon-clipping.
 *
 * The library takes a ring by the nonzero rule, so rings must not cross themselves. It may throw,
 * or take very long, on any input.
 *
 * @module
 */
import polygonClipping, { type MultiPolygon, type Pair } from 'polygon-clipping'

/** Longitudes and latitudes in units, alternately, not closed. */
export type Ring = readonly number[]

/** A shell and holes. */
export type Polygon = readonly Ring[]

/** The places in any of several polygons. */
export type Region = readonly Polygon[]

/** The places in any of the polygons, as polygons that do not overlap. */
export function unionOf(region: Region): Region {
  return run([region], ([first]) => polygonClipping.union(first))
}

/** The places in an odd number of regions. */
export function oddOf(regions: readonly Region[]): Region {
  return run(regions, ([first, ...others]) => polygonClipping.xor(first, ...others))
}

/** The places in a region but in none of the others. */
export function differenceOf(region: Region, others: readonly Region[]): Region {
  const operation = ([first, ...rest]: MultiPolygon[]) => polygonClipping.difference(first, ...rest)
  return run([region, ...others], operation)
}

/** The places in both. */
export function intersectionOf(a: Region, b: Region): Region {
  return run([a, b], ([first, second]) => polygonClipping.intersection(first, second))
}

/**
 * Runs an operation, and where it fails once more with longitudes and latitudes exchanged: the
 * library sweeps from west to east, and what rounding does to one order of edges it seldom does to
 * the other.
 */
function run(
  regions: readonly Region[],
  operation: (geometries: MultiPolygon[]) => MultiPolygon,
): Region {
  try {
    return fromPairs(operation(regions.map((region) => toPairs(region, 0))), 0)
  } catch {
    return fromPairs(operation(regions.map((region) => toPairs(region, 1))), 1)
  }
}

/** @param first  the offset of the coordinate that comes first */
function toPairs(region: Region, first: 0 | 1): MultiPolygon {
  return region.map((polygon) =>
    polygon.map((ring) => {
      const pairs: Pair[] = []
      for (let i = 0; i < ring.length; i += 2) pairs.push([ring[i + first], ring[i + 1 - first]])
      return pairs
    }),
  )
}

function fromPairs(polygons: MultiPolygon, first: 0 | 1): Region {
  return polygons.map((rings) =>
    rings.map((pairs) => pairs.slice(0, -1).flatMap((pair) => [pair[first], pair[1 - first]])),
  )
}
