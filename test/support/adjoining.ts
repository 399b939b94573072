/**
 * Areas that adjoin share their edges: whoever is on none of them is in one county, in the state of
 * that county and in the nation, or in none at all. On an edge one is in all areas that it parts.
 *
 * @module
 */
import type { MultiPolygon, Polygon } from 'geojson'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import { preparePlace } from '../oracle/geometry/exact.js'
import {
  type Area,
  loadCounties,
  loadNation,
  loadStates,
  withoutDegenerateRings,
} from './data/counties.js'
import { shardsOf } from './service/local-service.js'

export interface AdjoiningTotals {
  /** Recipients on no edge, summed over areas: the same three times. */
  readonly inCountiesCount: number
  readonly inStatesCount: number
  readonly inNationCount: number
  readonly onEdgeCount: number
  /** In two counties without being on an edge, or in a county but not in its state, and so on. */
  readonly wrongCount: number
}

const SHARD_RECIPIENT_COUNT = 50_000

export function checkAdjoining(columns: RecipientColumns): AdjoiningTotals {
  const shards = shardsOf(columns, 1, SHARD_RECIPIENT_COUNT).map(attachShard)
  const counties = loadCounties()
  const levels = [counties, loadStates(), [loadNation()]].map((areas) =>
    areasByPlace(shards, areas),
  )
  const rings = counties.flatMap(({ geometry }) => coordinatesOf(geometry).flat())
  const places = rings.map(preparePlace)
  const isOnEdge = (lng: number, lat: number) =>
    places.some((placeOf) => placeOf(lng, lat) === 'boundary')
  const sums = [0, 0, 0]
  let onEdgeCount = 0
  let wrongCount = 0
  for (const [shardIndex, { recipientCount, coords }] of shards.entries()) {
    for (let index = 0; index < recipientCount; index++) {
      const found = levels.map((areas) => areas[shardIndex][index] ?? [])
      if (!agree(found)) wrongCount++
      if (found[0].length > 1) {
        if (isOnEdge(coords[2 * index], coords[2 * index + 1])) onEdgeCount++
        else wrongCount++
      } else for (const [level, areas] of found.entries()) sums[level] += areas.length
    }
  }
  const [inCountiesCount, inStatesCount, inNationCount] = sums
  return { inCountiesCount, inStatesCount, inNationCount, onEdgeCount, wrongCount }
}

/** Coordinates with 7 decimals, so that somebody can be on a vertex; what is shared stays shared. */
export function coordinatesOf(geometry: Polygon | MultiPolygon): number[][][][] {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const rounded = (degrees: number) => Math.round(degrees * 1e7) / 1e7
  const coordinates = polygons.map((rings) =>
    rings.map((ring) => ring.map((vertex) => vertex.map(rounded))),
  )
  return withoutDegenerateRings({ type: 'MultiPolygon', coordinates })?.coordinates ?? []
}

/** The ids of the areas that hold each recipient, by shard and index. */
function areasByPlace(shards: readonly Shard[], areas: readonly Area[]): string[][][] {
  const found = shards.map((): string[][] => [])
  for (const { id, geometry } of areas) {
    const shapes = including(polygonsOf(coordinatesOf(geometry)))
    const selected = selectInside(shards, shapes, { edgeTestCount: 1e9 })
    for (const [shardIndex, runs] of selected.entries()) {
      for (let i = 0; i < runs.length; i += 2) {
        for (let index = runs[i]; index < runs[i + 1]; index++) {
          found[shardIndex][index] ??= []
          found[shardIndex][index].push(id)
        }
      }
    }
  }
  return found
}

/**
 * One ring of the package runs out along an edge between two counties of another state, and back:
 * who is there is in that county, but not in its state, whose rings have no such spikes.
 */
function agree([counties, states, nation]: readonly string[][]): boolean {
  const ofCounties = new Set(counties.map((id) => id.slice(0, 2)))
  const isKnown = states.every((id) => ofCounties.has(id))
  const isWhole = counties.length > 1 ? states.length > 0 : states.length === counties.length
  return isKnown && isWhole && nation.length === Math.min(1, states.length)
}
