/**
 * GeoJSON as a map library reads it: the text is parsed, and every feature must be one of RFC 7946, in
 * degrees, the longitude first.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { Feature, FeatureCollection, Point, Position } from 'geojson'

/** A collection with whatever foreign members it has. */
export type ReadCollection = FeatureCollection & Readonly<Record<string, unknown>>

export function readGeoJson(text: string): ReadCollection {
  const collection = JSON.parse(text) as ReadCollection
  assert.equal(collection.type, 'FeatureCollection')
  assert(Array.isArray(collection.features))
  for (const feature of collection.features) checkFeature(feature)
  return collection
}

/** Number, longitude and latitude of each recipient. */
export function readPoints(
  collection: ReadCollection,
): [source: number, phone: string, Position][] {
  return collection.features.map(({ geometry, properties }) => {
    assert.equal(geometry.type, 'Point')
    return [properties?.SourceId, properties?.Number, (geometry as Point).coordinates]
  })
}

function checkFeature(feature: Feature): void {
  assert.equal(feature.type, 'Feature')
  assert('properties' in feature && 'geometry' in feature)
  const { geometry } = feature as Feature<Feature['geometry'] | null>
  if (geometry === null) return
  if (geometry.type === 'Point') checkPosition(geometry.coordinates)
  else if (geometry.type === 'Polygon') checkPolygon(geometry.coordinates)
  else if (geometry.type === 'MultiPolygon') geometry.coordinates.forEach(checkPolygon)
  else assert.fail(`no answer has a ${geometry.type}`)
}

/** The shell counterclockwise, the holes clockwise (RFC 7946, 3.1.6). */
function checkPolygon(rings: readonly Position[][]): void {
  assert(rings.length > 0)
  for (const [index, ring] of rings.entries()) {
    ring.forEach(checkPosition)
    assert(ring.length >= 4)
    assert.deepEqual(ring[0], ring.at(-1))
    assert.equal(doubleArea(ring) > 0, index === 0)
  }
}

function checkPosition(position: Position): void {
  assert.equal(position.length, 2)
  const [lng, lat] = position
  assert(Math.abs(lng) <= 180 && Math.abs(lat) <= 90)
}

function doubleArea(ring: readonly Position[]): number {
  return ring.slice(1).reduce((sum, [x, y], i) => sum + ring[i][0] * y - x * ring[i][1], 0)
}
