import t from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import type { DrawnGeometry, Position } from '../../src/notations/drawn.js'
import { readWkb, readWkbBytes } from '../../src/notations/wkb.js'
import { randomGeometry } from '../support/random/geometries.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 2_000, soak: 10_000 })

const point = { type: 'Point', coordinates: [2, 4] }

t.test('a point is read in all forms that databases print', async (t) => {
  const cases: [string, string][] = [
    ['big-endian', '000000000140000000000000004010000000000000'],
    ['little-endian', '010100000000000000000000400000000000001040'],
    ['after \\x, as PostgreSQL prints bytes', '\\x010100000000000000000000400000000000001040'],
    ['after 0x', '0x010100000000000000000000400000000000001040'],
    ['with an SRID', '0101000020E610000000000000000000400000000000001040'],
    ['Z of ISO', '01E90300000000000000000040000000000000104000000000000008C0'],
    ['M of ISO', '01d10700000000000000000040000000000000104000000000000008c0'],
    ['Z of EWKB', '010100008000000000000000400000000000001040000000000000F03F'],
    ['M of EWKB', '010100004000000000000000400000000000001040000000000000F03F'],
    [
      'ZM of EWKB with an SRID',
      '01010000E0E610000000000000000000400000000000001040000000000000F03F000000000000F03F',
    ],
    [
      'ZM of ISO, big-endian',
      '0000000BB9400000000000000040100000000000003FF00000000000003FF0000000000000',
    ],
  ]
  for (const [name, hex] of cases) t.same(readWkb(hex, 'wkb'), point, name)
  const empty = '0101000000000000000000F87F000000000000F87F'
  t.same(readWkb(empty, 'wkb'), { type: 'Point', coordinates: [] }, 'POINT EMPTY of PostGIS')
  const multi = `0104000000020000000101000000000000000000F87F000000000000F87F${cases[1][1]}`
  t.same(readWkb(multi, 'wkb'), { type: 'MultiPoint', coordinates: [[2, 4]] })
})

t.test('a collection may be in both orders of bytes', async (t) => {
  const little = '010100000000000000000000400000000000001040'
  const big = '000000000140000000000000004010000000000000'
  const geometries = [point, { type: 'GeometryCollection', geometries: [point] }]
  t.same(readWkb(`010700000002000000${big}000000000700000001${little}`, 'wkb'), {
    type: 'GeometryCollection',
    geometries,
  })
})

t.test('what is not WKB is refused, with the byte', async (t) => {
  const x = '0000000000000040'
  const y = '0000000000001040'
  for (const [name, hex] of [
    ['nothing', ''],
    ['only a prefix', '\\x'],
    ['two prefixes', '\\x\\x0101'],
    ['an odd number of digits', `0101000000${x}${y}0`],
    ['no digits', `0101000000${x}${y.slice(2)}0g`],
    ['space', `0101000000${x} ${y}`],
    ['a byte too few', `0101000000${x}${y.slice(2)}`],
    ['a byte too many', `0101000000${x}${y}00`],
    ['two geometries', `0101000000${x}${y}0101000000${x}${y}`],
    ['an unknown order of bytes', `0201000000${x}${y}`],
    ['type 0 of 1000', `01E803000000`],
    ['type 18', `0112000000`],
    ['type 4001', `01A10F0000${x}${y}${x}${y}`],
    ['type 257', `0101010000${x}${y}`],
    ['a flag and a thousand', `01E9030080${x}${y}${x}`],
    ['an unknown flag', `0101000010${x}${y}`],
    ['NaN beside a number', `0101000000${x}000000000000F87F`],
    ['infinity', `0101000000${x}000000000000F07F`],
    ['NaN in a line', `010200000001000000${x}000000000000F87F`],
    ['a line cut off', `010200000002000000${x}${y}`],
    ['a count of 4 billion positions', `0102000000FFFFFFFF${x}${y}`],
    ['a count of 4 billion rings', `0103000000FFFFFFFF00000000`],
    ['a count of 4 billion members', `0107000000FFFFFFFF010700000000000000`],
    ['a ring without positions', `01030000000100000000000000`],
    ['a line in a MultiPoint', `010400000001000000010200000000000000`],
    ['a point in a MultiPolygon', `0106000000010000000101000000${x}${y}`],
    ['no count', `0102000000`],
    ['half a type', `0101`],
    ['no SRID', `0101000020`],
  ]) {
    const fault = faultOf(hex)
    t.match(fault, { code: 'InvalidWkb', status: 400, field: 'wkb' }, name)
    if (/^[0-9a-f]{4,}$/i.test(hex) && hex.length % 2 === 0)
      t.match(fault?.message, /^wkb .* \(byte \d+\)$/)
  }
  for (const value of [undefined, null, 5, {}, ['01']]) {
    t.throws(() => readWkb(value, 'wkb'), { code: 'InvalidWkb', field: 'wkb' })
  }
})

/** With an SRID of 0 in front, it is a point in the other order of bytes, with four bytes left over. */
t.test('what MySQL keeps is told from WKB that is damaged', async (t) => {
  const point = '010100000000000000000000400000000000001040'
  for (const srid of ['00000000', 'E6100000', '110F0000']) {
    const message = /^wkb has four bytes in front of its WKB .*axis-order=long-lat/
    t.match(faultOf(`${srid}${point}`), { code: 'InvalidWkb', field: 'wkb', message }, srid)
    t.match(faultOf(`${srid}010700000000000000`), { message }, 'an empty collection')
    t.match(faultOf(`${srid}${point}00`), { message: /^wkb .* \(byte \d+\)$/ })
    t.match(faultOf(`${srid}${point.slice(2)}`), { message: /^wkb .* \(byte \d+\)$/ })
  }
})

t.test('another reference, curves and surfaces are refused', async (t) => {
  const rest = '00000000000000400000000000001040'
  for (const srid of ['110F0000', '00000000', 'FFFFFFFF']) {
    t.match(faultOf(`0101000020${srid}${rest}`), { code: 'UnknownSpatialReference' }, srid)
  }
  const inside = `0107000000010000000101000020110F0000${rest}`
  t.match(faultOf(inside), { code: 'UnknownSpatialReference' }, 'within a collection')
  for (const [number, name] of [
    ['08000000', 'CIRCULARSTRING'],
    ['0A000000', 'CURVEPOLYGON'],
    ['0F000000', 'POLYHEDRALSURFACE'],
    ['10000000', 'TIN'],
    ['11000000', 'TRIANGLE'],
    ['F9030000', 'TRIANGLE'],
    ['11000080', 'TRIANGLE'],
  ]) {
    const fault = faultOf(`01${number}00000000`)
    t.match(fault, { code: 'UnknownGeometryType' }, number)
    t.match(fault?.message, name)
  }
})

t.test('nesting and positions are bounded', async (t) => {
  const nested = (depth: number) => `${'010700000001000000'.repeat(depth)}010700000000000000`
  t.match(readWkb(nested(limits.collectionDepthCount - 1), 'wkb'), { type: 'GeometryCollection' })
  t.match(faultOf(nested(limits.collectionDepthCount)), { code: 'TooComplex' })
  t.match(faultOf('010700000001000000'.repeat(200_000)), { code: 'TooComplex' })
  t.match(faultOf('01'.repeat(2 ** 20)), { code: 'InvalidWkb' })
  const empties = (count: number) => {
    const number = Buffer.alloc(4)
    number.writeUInt32LE(count)
    return `0107000000${number.toString('hex')}${'010200000000000000'.repeat(count)}`
  }
  t.match(readWkb(empties(limits.vertexCount), 'wkb'), { type: 'GeometryCollection' })
  t.match(faultOf(empties(limits.vertexCount + 1)), { code: 'TooManyVertices' })
  const line = (count: number) => {
    const bytes = Buffer.alloc(9 + 16 * count)
    bytes.set([1, 2])
    bytes.writeUInt32LE(count, 5)
    return bytes
  }
  const count = (limits.vertexCount * (4 * 8 + 9) - 9) / 16
  t.match(readWkb(line(Math.floor(count)).toString('hex'), 'wkb'), { type: 'LineString' })
  t.match(faultOf(line(Math.ceil(count + 1)).toString('hex')), { code: 'TooManyVertices' })
  t.match(readWkbBytes(line(1_000_000), 'file'), { type: 'LineString' }, 'of a file')
})

t.test('bytes are read where they lie in a buffer', async (t) => {
  const whole = Buffer.from('ffff010100000000000000000000400000000000001040ff', 'hex')
  t.same(readWkbBytes(whole.subarray(2, -1), 'wkb'), point)
})

t.test('random geometries are read back as they were', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < ROUND_COUNT; round++) {
    const geometry = randomGeometry(random)
    const bytes = Buffer.concat(written(geometry, random))
    const hex = bytes.toString('hex')
    const read = readWkb(random.pick([hex, hex.toUpperCase(), `\\x${hex}`]), 'wkb')
    if (JSON.stringify(read) !== JSON.stringify(geometry)) t.same(read, geometry, hex)
  }
  t.pass(`${ROUND_COUNT} geometries`)
})

const NUMBERS = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
}

/** Each geometry in an order of bytes and in a dialect of its own. */
function written(geometry: DrawnGeometry, random: Random): Buffer[] {
  const isLittle = random.between(0, 1) === 1
  const [number, extra, srid] = random.pick([
    [0, 0, false],
    [1_000, 1, false],
    [2_000, 1, false],
    [3_000, 2, false],
    [0x80000000, 1, false],
    [0x40000000, 1, false],
    [0xc0000000, 2, false],
    [0x20000000, 0, true],
    [0xe0000000, 2, true],
  ] as const)
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    if (isLittle) bytes.writeUInt32LE(value)
    else bytes.writeUInt32BE(value)
    return bytes
  }
  const double = (value: number) => {
    const bytes = Buffer.alloc(8)
    if (isLittle) bytes.writeDoubleLE(value)
    else bytes.writeDoubleBE(value)
    return bytes
  }
  const at = (position: readonly number[]) => {
    const numbers = position.length === 0 ? [Number.NaN, Number.NaN] : position
    return [...numbers, ...Array.from({ length: extra }, () => random.unit())].map(double)
  }
  const list = <T>(items: readonly T[], write: (item: T) => Buffer[]) => [
    uint32(items.length),
    ...items.flatMap(write),
  ]
  const members = (type: DrawnGeometry['type'], items: readonly unknown[]) =>
    list(items, (coordinates) => written({ type, coordinates } as DrawnGeometry, random))
  const line = (positions: readonly Position[]) => list(positions, at)
  const body = () => {
    switch (geometry.type) {
      case 'Point':
        return at(geometry.coordinates)
      case 'LineString':
        return line(geometry.coordinates)
      case 'Polygon':
        return list(geometry.coordinates, line)
      case 'MultiPoint':
        return members('Point', geometry.coordinates)
      case 'MultiLineString':
        return members('LineString', geometry.coordinates)
      case 'MultiPolygon':
        return members('Polygon', geometry.coordinates)
      default:
        return list(geometry.geometries, (each) => written(each, random))
    }
  }
  const header = uint32(NUMBERS[geometry.type] + number)
  return [Buffer.of(Number(isLittle)), header, ...(srid ? [uint32(4326)] : []), ...body()]
}

function faultOf(hex: string): ServiceError | undefined {
  try {
    readWkb(hex, 'wkb')
    return undefined
  } catch (error) {
    return error as ServiceError
  }
}
