/**
 * Drawings that cost a front more to read than to be answered, in GeoJSON and as Esri writes them.
 *
 * @module
 */
import type { MultiPolygon, Polygon, Position } from 'geojson'
import { limits } from '../../src/limits.js'

/** One polygon of as many vertices as a request may have. */
export function largestPolygon(): Polygon {
  return { type: 'Polygon', coordinates: [wavyRing(-95, 38, 10, limits.vertexCount)] }
}

/** As many vertices in polygons that lie in rows and apart. */
export function polygonsInRows(polygonCount: number, vertexCount: number): MultiPolygon {
  const side = Math.ceil(Math.sqrt(polygonCount))
  const coordinates = Array.from({ length: polygonCount }, (_, i) => {
    const lng = -120 + (50 * (i % side)) / side
    const lat = 25 + (20 * Math.floor(i / side)) / side
    return [wavyRing(lng, lat, 8 / side, vertexCount)]
  })
  return { type: 'MultiPolygon', coordinates }
}

export type EsriPolygon = { readonly rings: Position[][]; readonly spatialReference: object }

export function inEsri(geometry: Polygon | MultiPolygon): EsriPolygon {
  return { rings: ringsOf(geometry), spatialReference: { wkid: 4326 } }
}

export function inWebMercator(geometry: Polygon | MultiPolygon): EsriPolygon {
  const rings = ringsOf(geometry).map((ring) => ring.map(metresOf))
  return { rings, spatialReference: { wkid: 102100 } }
}

function ringsOf({ type, coordinates }: Polygon | MultiPolygon): Position[][] {
  return type === 'Polygon' ? coordinates : coordinates.flat()
}

const HALF_WORLD_METRES = 20037508.342789244

function metresOf([lng, lat]: Position): Position {
  const northing = Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI
  return [(lng * HALF_WORLD_METRES) / 180, northing * HALF_WORLD_METRES]
}

/** A closed ring that no two edges of cross, with seven decimals. */
export function wavyRing(
  lng: number,
  lat: number,
  degrees: number,
  positionCount: number,
): Position[] {
  const rounded = (value: number) => Math.round(value * 1e7) / 1e7
  const ring = Array.from({ length: positionCount - 1 }, (_, i): Position => {
    const turn = (2 * Math.PI * i) / (positionCount - 1)
    const radius = degrees * (1 + 0.1 * Math.sin(17 * turn))
    return [rounded(lng + radius * Math.cos(turn)), rounded(lat + radius * Math.sin(turn))]
  })
  return [...ring, ring[0]]
}
