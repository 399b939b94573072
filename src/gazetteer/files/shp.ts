/**
 * The geometries of a shapefile (ESRI, Shapefile Technical Description, 1998): polygons with or without
 * heights and measures, which are left out. All that the file says of its lengths is verified, so that a
 * damaged or cut file is refused and none of its records passed over.
 *
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises'
import type { Position } from '../../notations/drawn.js'
import { type RingList, refuse } from './area-file.js'

const MAGIC = 9_994
const HEADER_BYTES = 100
const RECORD_HEADER_BYTES = 8
/** Lengths are in words. */
const WORD_BYTES = 2
const NULL_SHAPE = 0
const POLYGON_TYPES: ReadonlySet<number> = new Set([5, 15, 25])
/** Type, box, and counts of parts and points. */
const POLYGON_HEADER_BYTES = 44
const POINT_BYTES = 16

/** What shapes of other kinds are called. */
const OTHER_TYPES: ReadonlyMap<number, string> = new Map([
  [1, 'points'],
  [3, 'lines'],
  [8, 'points'],
  [11, 'points'],
  [13, 'lines'],
  [18, 'points'],
  [21, 'points'],
  [23, 'lines'],
  [28, 'points'],
  [31, 'surfaces in space'],
])

/** @throws OperatorError  InputRejected for what has no polygons, or is damaged or cut off */
export async function* shpGeometries(path: string, file: string): AsyncGenerator<RingList | null> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const head = await bytesAt(handle, file, 0, HEADER_BYTES)
    if (head.readInt32BE(0) !== MAGIC) refuse(file, 'it is no shapefile')
    const saidBytes = head.readInt32BE(24) * WORD_BYTES
    if (saidBytes > size || saidBytes < HEADER_BYTES) {
      refuse(
        file,
        `it is damaged or cut off: it has ${size} bytes and says that it has ${saidBytes}`,
      )
    }
    const type = head.readInt32LE(32)
    if (!POLYGON_TYPES.has(type) && type !== NULL_SHAPE) {
      refuse(file, `it has ${OTHER_TYPES.get(type) ?? 'shapes of an unknown kind'}, and no areas`)
    }
    let at = HEADER_BYTES
    for (let number = 1; at < saidBytes; number++) {
      const header = await bytesAt(handle, file, at, RECORD_HEADER_BYTES)
      const contentBytes = header.readInt32BE(4) * WORD_BYTES
      const end = at + RECORD_HEADER_BYTES + contentBytes
      if (header.readInt32BE(0) !== number || contentBytes < 4 || end > saidBytes) {
        refuse(file, `it is damaged at record ${number}`)
      }
      const content = await bytesAt(handle, file, at + RECORD_HEADER_BYTES, contentBytes)
      yield ringsOf(content, type, file, number)
      at = end
    }
  } finally {
    await handle.close()
  }
}

async function bytesAt(
  handle: FileHandle,
  file: string,
  at: number,
  byteCount: number,
): Promise<Buffer> {
  const bytes = Buffer.alloc(byteCount)
  const { bytesRead } = await handle.read(bytes, 0, byteCount, at)
  return bytesRead === byteCount
    ? bytes
    : refuse(file, `it is cut off after ${at + bytesRead} bytes`)
}

function ringsOf(content: Buffer, type: number, file: string, number: number): RingList | null {
  const damaged = () => refuse(file, `it is damaged in record ${number}`)
  const own = content.readInt32LE(0)
  if (own === NULL_SHAPE) return null
  if (own !== type || content.length < POLYGON_HEADER_BYTES) return damaged()
  const partCount = content.readInt32LE(36)
  const pointCount = content.readInt32LE(40)
  const pointsAt = POLYGON_HEADER_BYTES + 4 * partCount
  if (partCount < 0 || pointCount < 0 || pointsAt + POINT_BYTES * pointCount > content.length) {
    return damaged()
  }
  const rings: Position[][] = []
  for (let part = 0; part < partCount; part++) {
    const first = content.readInt32LE(POLYGON_HEADER_BYTES + 4 * part)
    const isLast = part + 1 === partCount
    const end = isLast ? pointCount : content.readInt32LE(POLYGON_HEADER_BYTES + 4 * (part + 1))
    if (first < 0 || first > end || end > pointCount || (part === 0 && first !== 0))
      return damaged()
    const ring: Position[] = []
    for (let point = first; point < end; point++) {
      const at = pointsAt + POINT_BYTES * point
      ring.push([content.readDoubleLE(at), content.readDoubleLE(at + 8)])
    }
    rings.push(ring)
  }
  return rings.length === 0 ? null : { type: 'Rings', coordinates: rings }
}
