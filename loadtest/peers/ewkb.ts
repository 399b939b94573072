/**
 * Geometries as PostGIS takes them: extended well-known binary, in which every coordinate is the
 * double that the GeoJSON holds, so that nothing is rounded on the way.
 *
 * @module
 */
import type { LineString, MultiPolygon, Point, Polygon, Position } from 'geojson'

export type WrittenGeometry = Point | LineString | Polygon | MultiPolygon

/** Bytes of a point, as `putPoint` writes it. */
export const POINT_BYTES = 25

/** A geometry as hexadecimal text, which both geometry and geography parameters accept. */
export function toHexEwkb(geometry: WrittenGeometry): string {
  return Buffer.concat([...parts(geometry, SRID_FLAG)]).toString('hex')
}

/** Writes a point in degrees at `offset`. */
export function putPoint(bytes: Buffer, offset: number, lng: number, lat: number): void {
  bytes[offset] = LITTLE_ENDIAN
  bytes.writeUInt32LE(TYPE.Point + SRID_FLAG, offset + 1)
  bytes.writeUInt32LE(WGS84, offset + 5)
  bytes.writeDoubleLE(lng, offset + 9)
  bytes.writeDoubleLE(lat, offset + 17)
}

const LITTLE_ENDIAN = 1
const SRID_FLAG = 0x2000_0000
const WGS84 = 4326
const TYPE = { Point: 1, LineString: 2, Polygon: 3, MultiPolygon: 6 } as const

/** @param flag  for the outermost geometry, which alone names its reference system */
function* parts(geometry: WrittenGeometry, flag: number): Generator<Buffer> {
  yield Buffer.of(LITTLE_ENDIAN)
  yield word(TYPE[geometry.type] + flag)
  if (flag !== 0) yield word(WGS84)
  switch (geometry.type) {
    case 'Point':
      yield doubles([geometry.coordinates])
      break
    case 'LineString':
      yield word(geometry.coordinates.length)
      yield doubles(geometry.coordinates)
      break
    case 'Polygon':
      yield word(geometry.coordinates.length)
      for (const ring of geometry.coordinates.map(closed)) {
        yield word(ring.length)
        yield doubles(ring)
      }
      break
    case 'MultiPolygon':
      yield word(geometry.coordinates.length)
      for (const coordinates of geometry.coordinates) {
        yield* parts({ type: 'Polygon', coordinates }, 0)
      }
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function doubles(positions: readonly Position[]): Buffer {
  const bytes = Buffer.alloc(16 * positions.length)
  positions.forEach(([lng, lat], index) => {
    bytes.writeDoubleLE(lng, 16 * index)
    bytes.writeDoubleLE(lat, 16 * index + 8)
  })
  return bytes
}

function closed(ring: readonly Position[]): readonly Position[] {
  const [first, last] = [ring[0], ring[ring.length - 1]]
  return first[0] === last[0] && first[1] === last[1] ? ring : [...ring, first]
}
