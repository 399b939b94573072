/**
 * Small files of areas in formats that have no text, written byte by byte as their specifications say, and
 * what an import makes of files.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { crc32, deflateRawSync } from 'node:zlib'
import {
  type DraftPlan,
  DraftTally,
  draftAreas,
} from '../../../src/gazetteer/drafts/draft-areas.js'
import { fieldTemplate } from '../../../src/gazetteer/drafts/template.js'
import type { DraftArea } from '../../../src/gazetteer/write-layers.js'

export type Ring = readonly (readonly [number, number])[]

export interface ReadAreas {
  readonly areas: readonly DraftArea[]
  readonly tally: DraftTally
}

/** All areas of one file. @param plan  beside a key in the field `id` */
export async function readAreas(path: string, plan: Partial<DraftPlan> = {}): Promise<ReadAreas> {
  const tally = new DraftTally()
  const areas: DraftArea[] = []
  const whole: DraftPlan = {
    paths: [path],
    key: fieldTemplate('id'),
    aliases: [],
    where: [],
    merges: false,
    skipsInvalid: false,
    ...plan,
  }
  for await (const area of draftAreas(whole, tally)) areas.push(area)
  return { areas, tally }
}

/** A closed square with its lower left corner at a place; clockwise, as shapefiles have their shells. */
export function square(lng: number, lat: number, size = 1): Ring {
  return [
    [lng, lat],
    [lng, lat + size],
    [lng + size, lat + size],
    [lng + size, lat],
    [lng, lat],
  ]
}

export type Shape =
  | { readonly type: 'Polygon'; readonly coordinates: readonly Ring[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] }

/** Well-known binary, little-endian. */
export function wkbOf(shape: Shape): Buffer {
  const polygonOf = (rings: readonly Ring[]) => {
    const pieces = rings.map((ring) => {
      const piece = Buffer.alloc(4 + 16 * ring.length)
      piece.writeUInt32LE(ring.length, 0)
      ring.forEach(([x, y], i) => void piece.writeDoubleLE(y, piece.writeDoubleLE(x, 4 + 16 * i)))
      return piece
    })
    return Buffer.concat([headOf(3, rings.length), ...pieces])
  }
  if (shape.type === 'Polygon') return polygonOf(shape.coordinates)
  return Buffer.concat([headOf(6, shape.coordinates.length), ...shape.coordinates.map(polygonOf)])
}

function headOf(type: number, count: number): Buffer {
  const head = Buffer.alloc(9)
  head[0] = 1
  head.writeUInt32LE(type, 1)
  head.writeUInt32LE(count, 5)
  return head
}

/** The .shp of polygons; null is a null shape. */
export function shpOf(shapes: readonly (readonly Ring[] | null)[], type = 5): Buffer {
  const records = shapes.map((rings, index) => {
    const content = rings === null ? Buffer.alloc(4) : polygonContent(rings, type)
    const header = Buffer.alloc(8)
    header.writeInt32BE(index + 1, 0)
    header.writeInt32BE(content.length / 2, 4)
    return Buffer.concat([header, content])
  })
  const body = Buffer.concat(records)
  const head = Buffer.alloc(100)
  head.writeInt32BE(9994, 0)
  head.writeInt32BE((100 + body.length) / 2, 24)
  head.writeInt32LE(1000, 28)
  head.writeInt32LE(type, 32)
  return Buffer.concat([head, body])
}

function polygonContent(rings: readonly Ring[], type: number): Buffer {
  const points = rings.flat()
  const content = Buffer.alloc(44 + 4 * rings.length + 16 * points.length)
  content.writeInt32LE(type, 0)
  content.writeInt32LE(rings.length, 36)
  content.writeInt32LE(points.length, 40)
  let first = 0
  rings.forEach((ring, i) => {
    content.writeInt32LE(first, 44 + 4 * i)
    first += ring.length
  })
  points.forEach(([x, y], i) => {
    content.writeDoubleLE(x, 44 + 4 * rings.length + 16 * i)
    content.writeDoubleLE(y, 52 + 4 * rings.length + 16 * i)
  })
  return content
}

/** The .dbf of texts. @param deleted  numbers of records that are marked so */
export function dbfOf(
  fields: readonly string[],
  rows: readonly (readonly string[])[],
  deleted: readonly number[] = [],
  encoding: BufferEncoding = 'latin1',
): Buffer {
  const width = 20
  const head = Buffer.alloc(32 + 32 * fields.length + 1)
  head[0] = 3
  head.writeUInt32LE(rows.length, 4)
  head.writeUInt16LE(head.length, 8)
  head.writeUInt16LE(1 + width * fields.length, 10)
  fields.forEach((name, i) => {
    head.write(name, 32 + 32 * i, 'latin1')
    head.write('C', 32 + 32 * i + 11, 'latin1')
    head[32 + 32 * i + 16] = width
  })
  head[head.length - 1] = 0x0d
  const records = rows.map((row, number) => {
    const record = Buffer.alloc(1 + width * fields.length, ' ')
    if (deleted.includes(number)) record[0] = 0x2a
    row.forEach((text, i) => void record.write(text, 1 + width * i, encoding))
    return record
  })
  return Buffer.concat([head, ...records, Buffer.of(0x1a)])
}

/** Writes both, and a .prj if one is given. @param stem  the path without its ending */
export function writeShapefile(
  stem: string,
  shapes: readonly (readonly Ring[] | null)[],
  ids: readonly string[],
  prj?: string,
): string {
  writeFileSync(`${stem}.shp`, shpOf(shapes))
  const rows = ids.map((id) => [id, `Name ${id}`])
  writeFileSync(`${stem}.dbf`, dbfOf(['id', 'name'], rows))
  if (prj !== undefined) writeFileSync(`${stem}.prj`, prj)
  return `${stem}.shp`
}

export interface ZipEntry {
  readonly name: string
  readonly bytes: Uint8Array
  /** What the archive says of its length, in place of the truth. */
  readonly saidBytes?: number
}

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let at = 0
  for (const { name, bytes, saidBytes = bytes.length } of entries) {
    const packed = deflateRawSync(bytes)
    const nameBytes = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(saidBytes, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, nameBytes, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    centrals.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02', 'latin1'),
        Buffer.of(20, 0),
        common,
        rest,
        nameBytes,
      ]),
    )
    locals.push(local)
    at += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, central, end])
}
