/**
 * An area as it lies in a version of the gazetteer: its polygons as flat arrays, ready to be used, and what
 * is said of it.
 *
 *   bytes          what
 *   0 to 4         CRC-32 of all that follows
 *   4 to 8         1: vertices are 32-bit whole numbers; 2: doubles
 *   8 to 12        vertices
 *   12 to 16       rings
 *   16 to 20       polygons
 *   20 to 24       bytes of the text
 *   24 to 32       0
 *   32 …           vertices as longitude and latitude; where rings start; where polygons start, all as
 *                  `Polygons` has them; the text, an `AreaText` in JSON
 *
 * All numbers are little-endian.
 *
 * @module
 */
import { crc32 } from 'node:zlib'
import { emptyPolygons, fillBounds, type Polygons } from '../geometry/polygon/polygons.js'

export interface AreaText {
  /** `layer:key`, as the layer is written. */
  readonly id: string
  readonly name: string
  /** As they are written. */
  readonly aliases: readonly string[]
}

export interface StoredArea extends AreaText {
  readonly polygons: Polygons
}

/** What is read is not what was written. */
export class DamagedRecord extends Error {}

const HEADER_BYTES = 32
const WHOLE = 1
const DOUBLE = 2

export function encodeArea({ id, name, aliases, polygons }: StoredArea): Buffer {
  const { vertices, ringStarts, polygonStarts } = polygons
  const text = Buffer.from(JSON.stringify({ id, name, aliases } satisfies AreaText))
  const isWhole = vertices.every(fitsInt32)
  const numbers = [
    isWhole ? WHOLE : DOUBLE,
    vertices.length / 2,
    ringStarts.length - 1,
    polygonStarts.length - 1,
    text.length,
  ]
  const header = Buffer.alloc(HEADER_BYTES)
  for (const [i, value] of numbers.entries()) header.writeUInt32LE(value, 4 + 4 * i)
  const arrays = [isWhole ? new Int32Array(vertices) : vertices, ringStarts, polygonStarts]
  const record = Buffer.concat([header, ...arrays.map(bytesOf), text])
  record.writeUInt32LE(crc32(record.subarray(4)), 0)
  return record
}

/** As they lie in memory, which is little-endian wherever this runs. */
function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** @throws DamagedRecord */
export function decodeArea(record: Uint8Array): StoredArea {
  const { format, vertexCount, ringCount, polygonCount, textAt } = readHeader(record)
  const polygons = emptyPolygons(vertexCount, ringCount, polygonCount)
  const vertexBytes = (format === WHOLE ? 8 : 16) * vertexCount
  // Copied to where numbers of their size may lie.
  const bytes = record.slice(HEADER_BYTES, textAt)
  const buffer = bytes.buffer as ArrayBuffer
  const { byteOffset } = bytes
  const Vertices = format === WHOLE ? Int32Array : Float64Array
  polygons.vertices.set(new Vertices(buffer, byteOffset, 2 * vertexCount))
  const startsAt = byteOffset + vertexBytes
  polygons.ringStarts.set(new Uint32Array(buffer, startsAt, ringCount + 1))
  const polygonsAt = startsAt + 4 * (ringCount + 1)
  polygons.polygonStarts.set(new Uint32Array(buffer, polygonsAt, polygonCount + 1))
  fillBounds(polygons)
  return { ...textOf(record, textAt), polygons }
}

function readHeader(record: Uint8Array) {
  if (record.length < HEADER_BYTES) throw new DamagedRecord('a record is too short')
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
  if (crc32(record.subarray(4)) !== view.getUint32(0, true)) {
    throw new DamagedRecord('a record has another checksum than was written')
  }
  const [format, vertexCount, ringCount, polygonCount, textBytes] = [4, 8, 12, 16, 20].map((at) =>
    view.getUint32(at, true),
  )
  const textAt = record.length - textBytes
  const startBytes = 4 * (ringCount + polygonCount + 2)
  const isWhole = format === WHOLE
  const expected = HEADER_BYTES + (isWhole ? 8 : 16) * vertexCount + startBytes
  if (!(isWhole || format === DOUBLE) || textAt !== expected) {
    throw new DamagedRecord('a record is of a format that is not known')
  }
  return { format, vertexCount, ringCount, polygonCount, textAt }
}

function textOf(record: Uint8Array, textAt: number): AreaText {
  const { buffer, byteOffset, length } = record
  const text = Buffer.from(buffer, byteOffset + textAt, length - textAt).toString()
  return JSON.parse(text) as AreaText
}

function fitsInt32(value: number): boolean {
  // 0 and -0 are one place.
  return (value | 0) === value
}
