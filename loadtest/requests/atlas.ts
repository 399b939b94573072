/**
 * States and countries as GeoJSON, from us-atlas (US Census Bureau) and world-atlas (Natural
 * Earth), both in the public domain.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { MultiPolygon, Polygon } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

export interface Area {
  readonly id: string
  readonly name: string
  readonly geometry: Polygon | MultiPolygon
}

/** The states of the United States and what is equivalent to one, 56 of them, by themselves. */
export function loadStates(): Area[] {
  return load('us-atlas/states-10m.json', 'states')
}

/** The countries of the world in the finest of the three resolutions. */
export function loadCountries(): Area[] {
  return load('world-atlas/countries-10m.json', 'countries')
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
