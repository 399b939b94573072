/**
 * States and countries as GeoJSON, from us-atlas (US Census Bureau) and world-atlas (Natural
 * Earth), both in the public domain.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { MultiPolygon, Polygon, Position } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

export interface Area {
  readonly id: string
  readonly name: string
  readonly geometry: Polygon | MultiPolygon
}

/** The states of the United States and what is equivalent to one, 56 of them. */
export function loadStates(): Area[] {
  return load('us-atlas/states-10m.json', 'states')
}

/** The countries of the world in the finest of the three resolutions. */
export function loadCountries(): Area[] {
  return load('world-atlas/countries-10m.json', 'countries')
}

/**
 * The geometry without rings of fewer than three different points, which simplification has left
 * of small islands and which the service refuses; undefined if none is left.
 */
export function withoutFlatRings(
  geometry: Polygon | MultiPolygon,
): Polygon | MultiPolygon | undefined {
  const members = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const solid = members
    .filter(([shell]) => isSolid(shell))
    .map(([shell, ...holes]) => [shell, ...holes.filter(isSolid)])
  if (solid.length === 0) return undefined
  return solid.length === 1
    ? { type: 'Polygon', coordinates: solid[0] }
    : { type: 'MultiPolygon', coordinates: solid }
}

function isSolid(ring: readonly Position[]): boolean {
  return new Set(ring.map(([lng, lat]) => `${lng} ${lat}`)).size >= 3
}

function load(path: string, objectName: string): Area[] {
  const file = createRequire(import.meta.url).resolve(path)
  const topology = JSON.parse(readFileSync(file, 'utf8')) as Topology<
    Record<string, GeometryCollection<{ name: string }>>
  >
  return feature(topology, topology.objects[objectName]).features.flatMap(
    ({ id, properties, geometry }) =>
      geometry.type === 'Polygon' || geometry.type === 'MultiPolygon'
        ? [{ id: String(id), name: properties.name, geometry }]
        : [],
  )
}
