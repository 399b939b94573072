/**
 * WKB (OGC 06-103r4, 8.2) with its numbers for Z and M, and EWKB with its flags and SRID, as PostGIS
 * writes it: longitude before latitude, in either order of bytes.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../errors.js'
import { limits } from '../limits.js'
import type { DrawnGeometry, Position } from './drawn.js'
import { expectWgs84, refuseSurface, SURFACES } from './well-known.js'

/**
 * @param value  a text of hex digits in either letter case, after \x or 0x or nothing
 * @throws ServiceError  as readWkbBytes, and TooManyVertices
 */
export function readWkb(value: unknown, path: string): DrawnGeometry {
  const digits = typeof value === 'string' ? value.replace(/^(?:\\x|0x)/i, '') : ''
  // No pattern of pairs: that would keep each pair of a long text, to come back to it.
  if (digits === '' || digits.length % 2 !== 0 || /[^0-9a-f]/i.test(digits)) {
    const problem = 'must be a text of WKB in hex: two digits for each byte'
    throw new ServiceError('InvalidWkb', `${path} ${problem}`, path)
  }
  const bytes = Buffer.from(digits, 'hex')
  if (bytes.length > HEX_BYTES_MAX) {
    const problem = `has more than ${limits.vertexCount} positions`
    throw new ServiceError('TooManyVertices', `${path} ${problem}`, path)
  }
  return readWkbBytes(bytes, path)
}

/** Positions of four numbers, each a point with a header that has an SRID. */
const HEX_BYTES_MAX = limits.vertexCount * (4 * 8 + 9)

/**
 * @param bytes  one geometry, and nothing after it
 * @returns longitudes and latitudes alone; a point of NaN is an empty one, as PostGIS writes it, and an
 * empty member of a MultiPoint, MultiLineString or MultiPolygon is left out
 * @throws ServiceError  InvalidWkb with the byte, UnknownSpatialReference for an SRID other than 4326,
 * UnknownGeometryType for curves and surfaces, TooComplex
 */
export function readWkbBytes(bytes: Uint8Array, path: string): DrawnGeometry {
  try {
    return readAll(bytes, path)
  } catch (error) {
    throw isOfMySql(bytes) ? new ServiceError('InvalidWkb', `${path} ${OF_MYSQL}`, path) : error
  }
}

function readAll(bytes: Uint8Array, path: string): DrawnGeometry {
  const reader = new WkbReader(bytes, path)
  const geometry = reader.geometry(0)
  reader.end()
  return geometry
}

/** Whether there is one geometry behind four bytes, which are the SRID. */
function isOfMySql(bytes: Uint8Array): boolean {
  try {
    readAll(bytes.subarray(MYSQL_SRID_BYTES), '')
    return true
  } catch {
    return false
  }
}

const MYSQL_SRID_BYTES = 4
/** In a reference of degrees, MySQL has latitude first. */
const OF_MYSQL =
  "has four bytes in front of its WKB (byte 1), as MySQL keeps geometries: select ST_AsBinary(…, 'axis-order=long-lat')"

interface Header {
  /** 1 to 7. */
  readonly type: number
  readonly isLittleEndian: boolean
  /** Numbers of a position. */
  readonly dimensionCount: number
}

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const GEOMETRY_COLLECTION = 7

/** Flags of EWKB in the number of a type. */
const HAS_Z = 0x80000000
const HAS_M = 0x40000000
const HAS_SRID = 0x20000000
const FLAGS = HAS_Z | HAS_M | HAS_SRID

const COUNT_BYTES = 4
const NUMBER_BYTES = 8
/** The order of its bytes, its type, and a count: no geometry has fewer bytes. */
const GEOMETRY_BYTES_MIN = 9

class WkbReader {
  readonly #view: DataView
  readonly #path: string
  #at = 0
  /** Positions are bounded by the bytes, and what is empty has none. */
  #emptyCount = 0

  constructor(bytes: Uint8Array, path: string) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#path = path
  }

  geometry(depth: number): DrawnGeometry {
    const header = this.#header()
    switch (header.type) {
      case POINT:
        return { type: 'Point', coordinates: this.#point(header) ?? [] }
      case LINE_STRING:
        return { type: 'LineString', coordinates: this.#positions(header) }
      case POLYGON:
        return { type: 'Polygon', coordinates: this.#rings(header) }
      case MULTI_POINT:
        return {
          type: 'MultiPoint',
          coordinates: this.#members(header, POINT, (own) => this.#point(own)),
        }
      case MULTI_LINE_STRING:
        return {
          type: 'MultiLineString',
          coordinates: this.#members(header, LINE_STRING, (own) => filled(this.#positions(own))),
        }
      case MULTI_POLYGON:
        return {
          type: 'MultiPolygon',
          coordinates: this.#members(header, POLYGON, (own) => filled(this.#rings(own))),
        }
      default:
        return { type: 'GeometryCollection', geometries: this.#collected(header, depth) }
    }
  }

  end(): void {
    if (this.#at < this.#view.byteLength) this.#fail('must end after one geometry, but goes on')
  }

  #header(): Header {
    this.#expect(1)
    const order = this.#view.getUint8(this.#at)
    if (order > 1) this.#fail('must begin with the order of its bytes, 00 or 01')
    this.#at++
    const isLittleEndian = order === 1
    const number = this.#uint32(isLittleEndian)
    const flags = number & FLAGS
    const rest = (number & ~FLAGS) >>> 0
    // Thousands are for Z and M where flags are not.
    const thousands = flags === 0 ? Math.floor(rest / 1_000) : 0
    const type = flags === 0 ? rest % 1_000 : rest
    if (thousands > 3 || type < POINT || type > GEOMETRY_COLLECTION) {
      refuseSurface(thousands > 3 ? '' : (SURFACES.get(type) ?? ''), this.#path)
      this.#fail('must have the number of a geometry type')
    }
    if ((flags & HAS_SRID) !== 0) expectWgs84(this.#uint32(isLittleEndian), this.#path)
    const hasZ = (flags & HAS_Z) !== 0 || thousands === 1 || thousands === 3
    const hasM = (flags & HAS_M) !== 0 || thousands >= 2
    return { type, isLittleEndian, dimensionCount: 2 + Number(hasZ) + Number(hasM) }
  }

  /** @returns undefined for an empty one */
  #point(header: Header): Position | undefined {
    this.#expect(header.dimensionCount * NUMBER_BYTES)
    const lng = this.#view.getFloat64(this.#at, header.isLittleEndian)
    const lat = this.#view.getFloat64(this.#at + NUMBER_BYTES, header.isLittleEndian)
    if (!Number.isNaN(lng) || !Number.isNaN(lat)) return this.#position(header)
    this.#at += header.dimensionCount * NUMBER_BYTES
    return undefined
  }

  #positions(header: Header): Position[] {
    const count = this.#count(header, header.dimensionCount * NUMBER_BYTES)
    const positions: Position[] = []
    for (let i = 0; i < count; i++) positions.push(this.#position(header))
    return positions
  }

  #position({ isLittleEndian, dimensionCount }: Header): Position {
    const lng = this.#view.getFloat64(this.#at, isLittleEndian)
    const lat = this.#view.getFloat64(this.#at + NUMBER_BYTES, isLittleEndian)
    if (!Number.isFinite(lng) || !Number.isFinite(lat)) {
      this.#fail('must have numbers in its positions')
    }
    this.#at += dimensionCount * NUMBER_BYTES
    return [lng, lat]
  }

  #rings(header: Header): Position[][] {
    const count = this.#count(header, COUNT_BYTES)
    const rings: Position[][] = []
    for (let i = 0; i < count; i++) {
      const ring = this.#positions(header)
      if (ring.length === 0) this.#fail('must not have a ring without positions')
      rings.push(ring)
    }
    return rings
  }

  #members<T>(header: Header, type: number, read: (own: Header) => T | undefined): readonly T[] {
    const count = this.#count(header, GEOMETRY_BYTES_MIN)
    const members: T[] = []
    for (let i = 0; i < count; i++) {
      const own = this.#header()
      if (own.type !== type) this.#fail('must not have a geometry of another type as a member')
      const member = read(own)
      if (member !== undefined) members.push(member)
    }
    return members
  }

  #collected(header: Header, depth: number): readonly DrawnGeometry[] {
    if (depth >= limits.collectionDepthCount) {
      const levels = limits.collectionDepthCount
      this.#refuse('TooComplex', `nests collections deeper than ${levels} levels`)
    }
    const count = this.#count(header, GEOMETRY_BYTES_MIN)
    const geometries: DrawnGeometry[] = []
    for (let i = 0; i < count; i++) geometries.push(this.geometry(depth + 1))
    return geometries
  }

  /** Refuses more items than the bytes that are left can hold, before any is read. */
  #count({ isLittleEndian }: Header, itemBytesMin: number): number {
    const count = this.#uint32(isLittleEndian)
    if (count * itemBytesMin > this.#view.byteLength - this.#at) {
      this.#fail('is cut off: it counts more items than its bytes can hold')
    }
    if (count === 0 && ++this.#emptyCount > limits.vertexCount) {
      this.#refuse('TooManyVertices', `has more than ${limits.vertexCount} empty parts`)
    }
    return count
  }

  #uint32(isLittleEndian: boolean): number {
    this.#expect(COUNT_BYTES)
    const value = this.#view.getUint32(this.#at, isLittleEndian)
    this.#at += COUNT_BYTES
    return value
  }

  #expect(byteCount: number): void {
    if (this.#at + byteCount > this.#view.byteLength) this.#fail('is cut off')
  }

  #fail(problem: string): never {
    return this.#refuse('InvalidWkb', problem)
  }

  #refuse(code: ServiceErrorCode, problem: string): never {
    throw new ServiceError(code, `${this.#path} ${problem} (byte ${this.#at + 1})`, this.#path)
  }
}

function filled<T>(items: T[]): T[] | undefined {
  return items.length === 0 ? undefined : items
}
