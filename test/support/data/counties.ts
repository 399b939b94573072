/**
 * The counties of the United States as GeoJSON, from us-atlas (US Census Bureau, public domain).
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { MultiPolygon, Polygon } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

export interface County {
  /** Five digits: state, then county. */
  readonly id: string
  readonly name: string
  readonly geometry: Polygon | MultiPolygon
}

/** States, and the nation, of the same edges as the counties. */
export interface Area {
  /** Two digits, the first of its counties' ids; or the country. */
  readonly id: string
  readonly geometry: Polygon | MultiPolygon
}

/** All counties and what is equivalent to one, 3,231 of them, in the order of the package. */
export function loadCounties(): County[] {
  return loadAreas('counties')
}

export function loadStates(): Area[] {
  return loadAreas('states')
}

export function loadNation(): Area {
  return loadAreas('nation')[0]
}

/**
 * The geometry without rings of fewer than three different points, to which the package's rounding
 * has shrunk some islands; undefined where nothing is left, which is refused.
 */
export function withoutDegenerateRings(geometry: Polygon | MultiPolygon): MultiPolygon | undefined {
  const coordinates = polygonsOf(geometry)
    .filter(([shell]) => isRing(shell))
    .map((rings) => rings.filter(isRing))
  return coordinates.length === 0 ? undefined : { type: 'MultiPolygon', coordinates }
}

/** Whether any ring has fewer than three different points. */
export function hasShrunkenRings(geometry: Polygon | MultiPolygon): boolean {
  return !polygonsOf(geometry).flat().every(isRing)
}

export function polygonsOf(geometry: Polygon | MultiPolygon): number[][][][] {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
}

function isRing(ring: readonly (readonly number[])[]): boolean {
  return new Set(ring.map(String)).size >= 3
}

type Areas = GeometryCollection<{ name: string }>
type AtlasTopology = Topology<{ counties: Areas; states: Areas; nation: Areas }>

function loadAreas(level: 'counties' | 'states' | 'nation'): County[] {
  const path = createRequire(import.meta.url).resolve('us-atlas/counties-10m.json')
  const topology = JSON.parse(readFileSync(path, 'utf8')) as AtlasTopology
  return feature(topology, topology.objects[level]).features.map(({ id, properties, geometry }) => {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon')
      throw new Error(`${level} ${id} is a ${geometry.type}`)
    return { id: String(id), name: properties.name, geometry }
  })
}
