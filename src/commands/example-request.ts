/**
 * A request for the curl line that `hickory serve` prints: one that finds somebody.
 *
 * @module
 */
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import type { MapContext } from '../interface/context.js'
import type { Box } from '../shard/layout.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { StoredDocuments } from '../store/documents.js'

type Ring = readonly (readonly number[])[]

/** Counts the stored area with the most contacts or, without one, a region of the snapshot. */
export function exampleRequest(snapshot: Snapshot, documents: StoredDocuments): object {
  const coordinates = [largestArea(documents) ?? smallestRegion(snapshot)]
  return { countsOnly: true, geoJSON: { type: 'Polygon', coordinates } }
}

function largestArea({ contextJsons }: StoredDocuments): Ring | undefined {
  const decoder = new TextDecoder()
  const areas = [...contextJsons.values()].flatMap(
    (context) => (JSON.parse(decoder.decode(context)) as MapContext).Areas ?? [],
  )
  const counted = areas.filter(
    ({ ContactTotalCount, Geometry }) =>
      (ContactTotalCount ?? 0) > 0 && Geometry?.spatialReference?.wkid === 4326,
  )
  counted.sort((a, b) => (b.ContactTotalCount ?? 0) - (a.ContactTotalCount ?? 0))
  return counted[0]?.Geometry?.rings?.[0]
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
