/**
 * What the places of a request say: shapes that lie where nobody is are mostly a mistake, such as latitude
 * before longitude.
 *
 * @module
 */
import { type Bounds, meets } from '../geometry/bounds.js'
import { type ApartBudget, areApart } from '../geometry/polygon/apart.js'
import { reachMeets } from '../geometry/reach/reach-bounds.js'
import type { Reaches } from '../geometry/reach/reaches.js'
import { holdsFor, type Layer, type SourceFilter } from '../geometry/shapes.js'
import { POLE_UNITS } from '../geometry/units.js'
import { limits } from '../limits.js'
import { isAllBeyond, type Mask } from '../shard/mask.js'
import type { Boundary } from './boundary.js'
import { type Catalogue, type CatalogueShard, isFilled } from './catalogue.js'
import type { SourceSelection } from './merge.js'
import type { Remarks } from './remarks.js'
import { type FeatureExtent, featurePath } from './shapes/feature-extents.js'
import type { Query } from './validate.js'

/** Who is there for a request. */
interface There {
  /** Undefined where everybody is. */
  readonly boundary: Boundary | undefined
  /** Of the boundary; null where there is none. */
  readonly mask: Mask | null
}

/**
 * Remarks on features that touch no shard that they hold for, and on sources without recipients. Where a
 * boundary is secret they say of shards nothing, since the boxes of shards tell of people beyond.
 *
 * @param selections  who was found: a request with one shape and somebody in it is not looked at
 */
export function remarkOnPlaces(
  { shapes, extents, sourceIds, remarks, clipToBoundary }: Query,
  catalogue: Catalogue,
  selections: readonly Pick<SourceSelection, 'count'>[],
  { boundary, mask }: There,
): void {
  if (boundary !== undefined && clipToBoundary === false) remarks.add('BoundaryHolds', HOLDS, CLIP)
  if (extents.length === 0 && shapes.nearest.length === 0) return
  if (boundary?.isSecret) remarkOnNamedSources(sourceIds, catalogue, mask, remarks)
  else remarkOnEmptySources(sourceIds, catalogue, remarks)
  const [first] = extents
  const isFound = selections.some(({ count }) => count > 0)
  if (extents.length === 1 && !first.isExcluded && isFound) return
  remarkOnExtents({ shapes, extents, sourceIds, remarks }, catalogue, boundary)
}

/** The same for features alone. */
export function remarkOnExtents(
  { shapes, extents, sourceIds, remarks }: Pick<Query, PlaceMember>,
  { shards }: Pick<Catalogue, 'shards'>,
  boundary: Boundary | undefined,
): void {
  const budget = { comparisonsLeft: limits.outsideComparisonCount }
  // A request for no source is told that already.
  if (sourceIds?.length === 0) return
  for (const extent of extents) {
    if (!remarks.hasRoom) return
    const layer = (extent.isExcluded ? shapes.excluded : shapes.included)[extent.layer]
    if (layer.sourceIds?.every((id) => !holdsFor({ sourceIds }, id))) {
      remarks.add('NothingAsked', NO_SOURCE, pathOf(extent))
      continue
    }
    if (boundary !== undefined && isOutside(layer, extent, boundary, budget)) {
      const advice = isBoxedIn(exchanged(layer), extent, boundary) ? EXCHANGED_WITHIN : ''
      remarks.add('OutsideBoundary', `${OUTSIDE}${advice}`, pathOf(extent))
      continue
    }
    if (boundary?.isSecret) continue
    if (touchesAny(layer, extent, sourceIds, shards)) continue
    const isExchanged = touchesAny(exchanged(layer), extent, sourceIds, shards)
    const advice = isExchanged ? EXCHANGED : ALONE
    remarks.add('NobodyNear', `touches no region with recipients${advice}`, pathOf(extent))
  }
}

type PlaceMember = 'shapes' | 'extents' | 'sourceIds' | 'remarks'

const CLIP = 'clipToBoundary'
const HOLDS = 'clipToBoundary is false, but every answer to this client is limited to a boundary'
const OUTSIDE = 'lies wholly outside the boundary that the answer is limited to'
const EXCHANGED_WITHIN =
  '; not so with latitude and longitude exchanged: positions are longitude, then latitude'
const NO_SOURCE =
  'holds for none of the sources that are asked for: nobody is selected, or excluded, by it'
const ALONE = ': nobody is selected, or excluded, by it'
const EXCHANGED =
  ', but would with latitude and longitude exchanged: positions are longitude, then latitude'

function pathOf({ drawing, feature }: FeatureExtent): string {
  return featurePath(drawing, feature)
}

/** The boxes and arcs of a layer; with latitude and longitude exchanged, of none that is drawn. */
interface Places {
  readonly sourceIds: SourceFilter
  readonly polygons: { readonly bounds: Float64Array }
  readonly reaches: Reaches
}

/** Whether the part of a layer that a feature became touches a shard that it holds for. */
function touchesAny(
  places: Places,
  extent: FeatureExtent,
  sourceIds: SourceFilter,
  shards: readonly CatalogueShard[],
): boolean {
  const touches = toucher(places, extent)
  return shards.some(
    ({ sourceId, box }) =>
      holdsFor(places, sourceId) && holdsFor({ sourceIds }, sourceId) && touches(box),
  )
}

/** Tells whether the part of a layer that a feature became touches a box; it may say so too often. */
function toucher(
  { polygons, reaches }: Places,
  { polygonStart, polygonEnd, arcStart, arcEnd }: FeatureExtent,
): (box: Readonly<Bounds>) => boolean {
  const own: Reaches | undefined =
    arcEnd > arcStart
      ? {
          arcs: reaches.arcs.subarray(4 * arcStart, 4 * arcEnd),
          radiiMetres: reaches.radiiMetres.subarray(arcStart, arcEnd),
        }
      : undefined
  return (box) => {
    for (let polygon = polygonStart; polygon < polygonEnd; polygon++) {
      if (meets(box, polygons.bounds, 4 * polygon)) return true
    }
    return own !== undefined && reachMeets(own, box)
  }
}

/** Whether a feature lies wholly outside; of one with circles or corridors only boxes are compared. */
function isOutside(
  layer: Layer,
  extent: FeatureExtent,
  boundary: Boundary,
  budget: ApartBudget,
): boolean {
  if (!isBoxedIn(layer, extent, boundary)) return true
  const { polygonStart, polygonEnd, arcStart, arcEnd } = extent
  if (arcEnd > arcStart) return false
  return boundary.areas.some((area) =>
    area.every(({ polygons }) =>
      areApart(layer.polygons, polygonStart, polygonEnd, polygons, budget),
    ),
  )
}

/** Whether a feature meets a box of each area of a boundary. */
function isBoxedIn(places: Places, extent: FeatureExtent, { areas }: Boundary): boolean {
  const touches = toucher(places, extent)
  return areas.every((area) => boxesOf(area).some(touches))
}

type Area = Boundary['areas'][number]

/** The boxes of the polygons of an area; it has nothing but polygons. */
function boxesOf(area: Area): readonly Bounds[] {
  const known = areaBoxes.get(area)
  if (known !== undefined) return known
  const boxes = area.flatMap(({ polygons: { bounds } }) =>
    Array.from({ length: bounds.length / 4 }, (_, i): Bounds => {
      const [minLng, minLat, maxLng, maxLat] = bounds.subarray(4 * i, 4 * i + 4)
      return { minLng, minLat, maxLng, maxLat }
    }),
  )
  areaBoxes.set(area, boxes)
  return boxes
}

const areaBoxes = new WeakMap<Area, readonly Bounds[]>()

/** What does not lie on the globe then touches nothing. */
function exchanged({ sourceIds, polygons, reaches }: Places): Places {
  const bounds = polygons.bounds.slice()
  for (let at = 0; at < bounds.length; at += 4) {
    const [minLng, minLat, maxLng, maxLat] = polygons.bounds.subarray(at, at + 4)
    const isOnGlobe = minLng >= -POLE_UNITS && maxLng <= POLE_UNITS
    bounds.set(isOnGlobe ? [minLat, minLng, maxLat, maxLng] : NOWHERE, at)
  }
  const arcs = reaches.arcs.map((_, i, all) => all[i ^ 1])
  const radiiMetres = reaches.radiiMetres.map((radius, i) => {
    const isOnGlobe =
      Math.abs(arcs[4 * i + 1]) <= POLE_UNITS && Math.abs(arcs[4 * i + 3]) <= POLE_UNITS
    return isOnGlobe ? radius : Number.NEGATIVE_INFINITY
  })
  return { sourceIds, polygons: { bounds }, reaches: { arcs, radiiMetres } }
}

/** Bounds that meet no box. */
const NOWHERE = [
  Number.POSITIVE_INFINITY,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
]

function remarkOnEmptySources(
  sourceIds: SourceFilter,
  catalogue: Catalogue,
  remarks: Remarks,
): void {
  for (const id of emptySourcesOf(catalogue)) {
    if (!holdsFor({ sourceIds }, id)) continue
    remarks.add(
      'EmptySource',
      `source ${id} has no recipients`,
      sourceIds === null ? undefined : 'sources',
    )
  }
}

/**
 * Of a secret boundary, for sources that the request names: without a name, a source that has nobody within
 * is nothing unusual.
 */
function remarkOnNamedSources(
  sourceIds: SourceFilter,
  { shards }: Catalogue,
  mask: Mask | null,
  remarks: Remarks,
): void {
  for (const id of sourceIds ?? []) {
    const isThere = shards.some(
      ({ sourceId }, at) => sourceId === id && mask !== null && !isAllBeyond(mask, at),
    )
    if (isThere) continue
    remarks.add('EmptySource', `source ${id} has no recipients within the boundary`, 'sources')
  }
}

/** The same for a whole snapshot. */
function emptySourcesOf(catalogue: Catalogue): readonly number[] {
  const known = emptySources.get(catalogue)
  if (known !== undefined) return known
  const filled = new Set(catalogue.shards.filter(isFilled).map(({ sourceId }) => sourceId))
  const empty = catalogue.sources.map(({ id }) => id).filter((id) => !filled.has(id))
  emptySources.set(catalogue, empty)
  return empty
}

const emptySources = new WeakMap<Catalogue, readonly number[]>()
