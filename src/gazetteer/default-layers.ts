/**
 * The layers that come with the program: counties and states of the United States, and the countries of the
 * world, with the codes that alerts name them by.
 *
 * Positions are rounded to whole units (1.1 cm), so that they are written with seven decimals and mean the same
 * again; the maps themselves are good to some hundred metres.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { feature } from 'topojson-client'
import type { GeometryCollection, GeometryObject, Topology } from 'topojson-specification'
import { toUnits, UNITS_PER_DEGREE } from '../geometry/units.js'
import { countryCodes } from './country-codes.js'
import { stateCodes } from './state-codes.js'
import type { DraftArea, DraftLayer } from './write-layers.js'

export function defaultLayers(): DraftLayer[] {
  const atlas = readTopology('us-atlas/counties-10m.json')
  const world = readTopology('world-atlas/countries-10m.json')
  return [
    {
      layer: 'counties',
      source: 'us-atlas 3 (US Census Bureau, cartographic boundaries of 2017, 1:10,000,000)',
      licence: 'ISC; the boundaries are in the public domain',
      areas: counties(atlas),
    },
    {
      layer: 'states',
      source: 'us-atlas 3 (US Census Bureau, cartographic boundaries of 2017, 1:10,000,000)',
      licence: 'ISC; the boundaries are in the public domain',
      areas: states(atlas),
    },
    {
      layer: 'countries',
      source: 'world-atlas 2 (Natural Earth 4.1, 1:10,000,000)',
      licence: 'ISC; the boundaries are in the public domain',
      areas: countries(world),
    },
  ]
}

type Properties = { readonly name: string }
type Atlas = Topology<Record<string, GeometryCollection<Properties>>>

function readTopology(file: string): Atlas {
  return JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')) as Atlas
}

function* counties(atlas: Atlas): Generator<DraftArea> {
  const states = stateCodes()
  for (const { id, name, geometry } of areasOf(atlas, 'counties')) {
    const state = states.get(id.slice(0, 2))
    yield {
      key: id,
      name: state === undefined ? name : `${name}, ${state}`,
      aliases: [
        `SAME:0${id}`,
        `FIPS:${id}`,
        ...(state === undefined ? [] : [`UGC:${state}C${id.slice(2)}`]),
      ],
      geometry,
    }
  }
}

function* states(atlas: Atlas): Generator<DraftArea> {
  const codes = stateCodes()
  for (const { id, name, geometry } of areasOf(atlas, 'states')) {
    const code = codes.get(id)
    const aliases = [
      `SAME:0${id}000`,
      `FIPS:${id}`,
      ...(code === undefined ? [] : [`states:${code}`]),
    ]
    yield { key: id, name, aliases, geometry }
  }
}

/** Several parts of the map may have one code: they are one area. Those without a code are called by name. */
function* countries(world: Atlas): Generator<DraftArea> {
  const codes = countryCodes()
  const parts = new Map<string, { name: string; coordinates: Polygon[] }>()
  for (const { id, name, geometry } of areasOf(world, 'countries')) {
    const key = id === '' ? keyFrom(name) : id
    const known = parts.get(key)
    if (known === undefined) parts.set(key, { name, coordinates: [...geometry.coordinates] })
    else known.coordinates.push(...geometry.coordinates)
  }
  for (const [key, { name, coordinates }] of parts) {
    const code = codes.get(key)
    const aliases =
      code === undefined
        ? []
        : [code.alpha2, code.alpha3].flatMap((text) => [`countries:${text}`, `ISO:${text}`])
    yield { key, name, aliases, geometry: { type: 'MultiPolygon', coordinates } }
  }
}

type Polygon = number[][][]

interface AtlasArea {
  /** Empty where the map has none. */
  readonly id: string
  readonly name: string
  readonly geometry: { readonly type: 'MultiPolygon'; readonly coordinates: Polygon[] }
}

function* areasOf(atlas: Atlas, object: string): Generator<AtlasArea> {
  for (const part of atlas.objects[object].geometries as GeometryObject<Properties>[]) {
    const { id = '', properties, geometry } = feature<Properties>(atlas, part) as Feature
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    const coordinates = polygons.map((rings) => rings.map((ring) => ring.map(rounded)))
    // On a map of this scale, the smallest are no more than a point. To be called unknown is better than empty.
    if (!coordinates.some(([shell]) => hasThreePlaces(shell))) continue
    yield { id: String(id), name: properties.name, geometry: { type: 'MultiPolygon', coordinates } }
  }
}

interface Feature {
  readonly id?: string | number
  readonly properties: Properties
  readonly geometry:
    | { readonly type: 'Polygon'; readonly coordinates: Polygon }
    | { readonly type: 'MultiPolygon'; readonly coordinates: Polygon[] }
}

function hasThreePlaces(ring: number[][]): boolean {
  const places = new Set<string>()
  return ring.some((position) => places.add(String(position)).size > 2)
}

/** Seven decimals at most. */
function rounded([lng, lat]: readonly number[]): number[] {
  return [Math.round(toUnits(lng)) / UNITS_PER_DEGREE, Math.round(toUnits(lat)) / UNITS_PER_DEGREE]
}

function keyFrom(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
}
