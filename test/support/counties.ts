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

/** All counties and what is equivalent to one, 3,231 of them, in the order of the package. */
export function loadCounties(): County[] {
  const path = createRequire(import.meta.url).resolve('us-atlas/counties-10m.json')
  const topology = JSON.parse(readFileSync(path, 'utf8')) as CountyTopology
  return feature(topology, topology.objects.counties).features.map(
    ({ id, properties, geometry }) => {
      if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon')
        throw new Error(`county ${id} is a ${geometry.type}`)
      return { id: String(id), name: properties.name, geometry }
    },
  )
}

type CountyTopology = Topology<{ counties: GeometryCollection<{ name: string }> }>
