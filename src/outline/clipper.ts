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

/** A turn of the plane, exact in numbers: which coordinate comes first, and whether both change sign. */
interface Turn {
  readonly first: 0 | 1
  readonly isNegated: boolean
}

const turns: readonly Turn[] = [
  { first: 0, isNegated: false },
  { first: 1, isNegated: false },
  { first: 0, isNegated: true },
  { first: 1, isNegated: true },
]

/**
 * Runs an operation, and where it fails again with the plane turned: the library sweeps from west
 * to east, and what rounding does to one order of edges it seldom does to another.
 */
function run(
  regions: readonly Region[],
  operation: (geometries: MultiPolygon[]) => MultiPolygon,
): Region {
  let failure: unknown
  for (const turn of turns) {
    try {
      return fromPairs(operation(regions.map((region) => toPairs(region, turn))), turn)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function toPairs(region: Region, { first, isNegated }: Turn): MultiPolygon {
  return region.map((polygon) =>
    polygon.map((ring) => {
      const values = isNegated ? ring.map(negative) : ring
      const pairs: Pair[] = []
      for (let i = 0; i < values.length; i += 2)
        pairs.push([values[i + first], values[i + 1 - first]])
      return pairs
    }),
  )
}

function fromPairs(polygons: MultiPolygon, { first, isNegated }: Turn): Region {
  return polygons.map((rings) =>
    rings.map((pairs) => {
      const values = pairs.slice(0, -1).flatMap((pair) => [pair[first], pair[1 - first]])
      return isNegated ? values.map(negative) : values
    }),
  )
}

/** Without a negative zero. */
function negative(value: number): number {
  return 0 - value
}
