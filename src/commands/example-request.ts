/**
 * A request that finds somebody, for the curl line that `hickory serve` prints.
 *
 * @module
 */
import { polygonsOf } from '../geometry/polygon/polygons.js'
import { including } from '../geometry/shapes.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import type { MapContext } from '../interface/context.js'
import { limits } from '../limits.js'
import { attachShard, type Box } from '../shard/layout.js'
import { countInside } from '../shard/select.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { Store } from '../store/store.js'

type Ring = readonly (readonly number[])[]

/** Counts the stored area with the most recipients or, without one, a region of the snapshot. */
export function exampleRequest(snapshot: Snapshot, store: Store): object {
  const coordinates = [busiestArea(snapshot, store) ?? smallestRegion(snapshot)]
  return { countsOnly: true, geoJSON: { type: 'Polygon', coordinates } }
}

/** Of the first few contexts. */
const CONTEXT_COUNT = 5
const AREA_COUNT = 20
/** To be read on a command line. */
const POSITION_COUNT = 50

function busiestArea(snapshot: Snapshot, store: Store): Ring | undefined {
  const { summaries } = store.page(0, CONTEXT_COUNT)
  const rings = summaries.flatMap(({ Id = '' }) => shownRings(store, Id)).slice(0, AREA_COUNT)
  // Without their arenas, the zones of which are for the query workers.
  const shards = snapshot.shards.map((shard) => attachShard({ ...shard, arena: null }))
  const budget = { edgeTestCount: limits.edgeTestCount }
  const counted = rings.map((ring) => {
    const counts = countInside(shards, including(polygonsOf([[ring]])), budget)
    return { ring, count: counts.reduce((sum, count) => sum + count, 0) }
  })
  counted.sort((left, right) => right.count - left.count)
  return counted[0]?.count > 0 ? counted[0].ring : undefined
}

/** Outlines of a context's areas that are drawn in degrees and are simple enough to be shown. */
function shownRings(store: Store, id: string): Ring[] {
  const json = Buffer.from(store.context(id)?.json ?? '{}').toString()
  const { Areas = [] } = JSON.parse(json) as MapContext
  return Areas.filter(({ Geometry }) => Geometry?.spatialReference?.wkid === 4326)
    .map(({ Geometry }) => Geometry?.rings?.[0] ?? [])
    .filter((ring) => ring.length > 2 && ring.length <= POSITION_COUNT && ring.every(isPosition))
}

function isPosition([lng, lat]: readonly number[]): boolean {
  return Math.abs(lng) <= 180 && Math.abs(lat) <= 90
}

/** Its bounds, rounded outwards so far that they tell nothing of where anybody is. */
function smallestRegion({ shards }: Snapshot): Ring {
  const [smallest] = shards.map(({ box }) => outwards(box)).sort((a, b) => areaOf(a) - areaOf(b))
  const { minLng, minLat, maxLng, maxLat } = smallest ?? EVERYWHERE
  return [
    [minLng, minLat],
    [maxLng, minLat],
    [maxLng, maxLat],
    [minLng, maxLat],
    [minLng, minLat],
  ]
}

const EVERYWHERE: Box = { minLng: -180, minLat: -90, maxLng: 180, maxLat: 90 }

/** Whole degrees around a box in units; a whole turn where an edge would be over half of one. */
function outwards(box: Box): Box {
  const minLng = Math.floor(box.minLng / UNITS_PER_DEGREE)
  const maxLng = Math.ceil(box.maxLng / UNITS_PER_DEGREE)
  const isWide = maxLng - minLng > 180
  return {
    minLng: isWide ? EVERYWHERE.minLng : minLng,
    minLat: Math.floor(box.minLat / UNITS_PER_DEGREE),
    maxLng: isWide ? EVERYWHERE.maxLng : maxLng,
    maxLat: Math.ceil(box.maxLat / UNITS_PER_DEGREE),
  }
}

function areaOf({ minLng, minLat, maxLng, maxLat }: Box): number {
  return (maxLng - minLng) * (maxLat - minLat)
}
