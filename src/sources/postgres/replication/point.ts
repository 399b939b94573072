/**
 * Points as PostGIS writes them as text: hexadecimal digits of EWKB.
 *
 * Source: "PostGIS EWKB" in the manual of PostGIS 3.3.
 *
 * @module
 */

interface Point {
  readonly lng: number
  readonly lat: number
  /** Of the coordinate system; 0 where it is not said. */
  readonly srid: number
}

/** @returns undefined for what is no point, or an empty one */
export function readPoint(hex: Buffer): Point | undefined {
  const bytes = Buffer.from(hex.toString('latin1'), 'hex')
  if (bytes.length < TYPE_END || bytes.length * 2 !== hex.length) return undefined
  const isLittle = bytes[0] === 1
  const integer = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  const double = (at: number) => (isLittle ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at))
  const type = integer(1)
  if ((type & TYPE_MASK) !== POINT) return undefined
  const hasSrid = (type & HAS_SRID) !== 0
  const start = hasSrid ? TYPE_END + 4 : TYPE_END
  if (bytes.length < start + 16) return undefined
  const lng = double(start)
  const lat = double(start + 8)
  // So does PostGIS write an empty point.
  if (Number.isNaN(lng) && Number.isNaN(lat)) return undefined
  return { lng, lat, srid: hasSrid ? integer(TYPE_END) : 0 }
}

const TYPE_END = 5
const POINT = 1
/** Without the marks of further coordinates and of a coordinate system. */
const TYPE_MASK = 0x1fffffff
const HAS_SRID = 0x20000000
