import t from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import type { DrawnGeometry, Position } from '../../src/notations/drawn.js'
import { readWkt } from '../../src/notations/wkt.js'
import { randomGeometry } from '../support/random/geometries.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 800, soak: 10_000 })

const point = { type: 'Point', coordinates: [30, 10] }

t.test('each type is read, as the specification writes it', async (t) => {
  const cases: [string, DrawnGeometry][] = [
    ['POINT (30 10)', { type: 'Point', coordinates: [30, 10] }],
    [
      'LINESTRING (30 10, 10 30)',
      {
        type: 'LineString',
        coordinates: [
          [30, 10],
          [10, 30],
        ],
      },
    ],
    [
      'POLYGON ((35 10, 45 45, 15 40, 35 10), (20 30, 35 35, 30 20, 20 30))',
      {
        type: 'Polygon',
        coordinates: [
          [
            [35, 10],
            [45, 45],
            [15, 40],
            [35, 10],
          ],
          [
            [20, 30],
            [35, 35],
            [30, 20],
            [20, 30],
          ],
        ],
      },
    ],
    [
      'MULTIPOINT ((10 40), (40 30))',
      {
        type: 'MultiPoint',
        coordinates: [
          [10, 40],
          [40, 30],
        ],
      },
    ],
    [
      'MULTIPOINT (10 40, 40 30)',
      {
        type: 'MultiPoint',
        coordinates: [
          [10, 40],
          [40, 30],
        ],
      },
    ],
    [
      'MULTILINESTRING ((10 10, 20 20), (40 40, 30 30))',
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [10, 10],
            [20, 20],
          ],
          [
            [40, 40],
            [30, 30],
          ],
        ],
      },
    ],
    [
      'MULTIPOLYGON (((30 20, 45 40, 10 40, 30 20)), ((15 5, 40 10, 10 20, 15 5)))',
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [30, 20],
              [45, 40],
              [10, 40],
              [30, 20],
            ],
          ],
          [
            [
              [15, 5],
              [40, 10],
              [10, 20],
              [15, 5],
            ],
          ],
        ],
      },
    ],
    [
      'GEOMETRYCOLLECTION (POINT (40 10), LINESTRING (10 10, 20 20), GEOMETRYCOLLECTION EMPTY)',
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [40, 10] },
          {
            type: 'LineString',
            coordinates: [
              [10, 10],
              [20, 20],
            ],
          },
          { type: 'GeometryCollection', geometries: [] },
        ],
      },
    ],
    ['POLYGON EMPTY', { type: 'Polygon', coordinates: [] }],
    ['MULTIPOINT (EMPTY, 1 2)', { type: 'MultiPoint', coordinates: [[1, 2]] }],
    ['MULTIPOLYGON Z (EMPTY)', { type: 'MultiPolygon', coordinates: [] }],
  ]
  for (const [text, geometry] of cases) t.same(readWkt(text, 'wkt'), geometry, text)
})

t.test('dimensions, letter case, space, numbers and EWKT are read in every way', async (t) => {
  for (const text of [
    'point(30 10)',
    '\r\n\tPoint\n(\t30\r\n10 ) ',
    'POINT Z (30 10 5)',
    'POINTZ(30 10 5)',
    'POINT M(30 10 5)',
    'POINTM (30 10 5)',
    'POINT ZM (30 10 5 6)',
    'pointzm(30 10 5 6)',
    'POINT(30 10 5)',
    'POINT(30 10 5 6)',
    'POINT(+30. 1e1)',
    'POINT(3.0E+1 100e-1)',
    'SRID=4326;POINT(30 10)',
    'srid = 4326 ; point (30 10)',
  ]) {
    t.same(readWkt(text, 'wkt'), point, text)
  }
  t.same(readWkt('POINT(-.5 -0.0)', 'wkt'), { type: 'Point', coordinates: [-0.5, -0] })
})

t.test('what is not WKT is refused, with the character and without its words', async (t) => {
  for (const text of [
    '',
    ' ',
    'SECRET',
    'POINT',
    'POINT(30 10',
    'POINT(30 10))',
    'POINT(30 10);',
    'POINT(30 10)POINT(30 10)',
    'POINT(30)',
    'POINT(30 10 5 6 7)',
    'POINT Z(30 10)',
    'POINT Z(30 10 5 6)',
    'POINT ZM(30 10 5)',
    'POINT ZZ(30 10 5)',
    'POINT(30,10)',
    'POINT(30 10,30 10)',
    'POINT((30 10))',
    'POINT(EMPTY)',
    'POINT()',
    'POINT(nan nan)',
    'POINT(inf 1)',
    'POINT(1e999 1)',
    'POINT(0x10 1)',
    'POINT(30a 10)',
    'POINT(30 10b)',
    'POINT(1.2.3 10)',
    'POINT(1e 10)',
    'POINT(1-2 3)',
    'POINT(. 3)',
    'POINT(- 3)',
    'POINT(30\u00a010)',
    'POINT(３0 10)',
    'LINESTRING(1 2, 3 4 5)',
    'LINESTRING(1 2 3, 3 4)',
    'LINESTRING(1 2,)',
    'LINESTRING(,1 2)',
    'LINESTRING((1 2),(3 4))',
    'LINESTRING(1 2 3 4',
    'POLYGON(1 2, 3 4, 5 6)',
    'POLYGON((1 2, 3 4, 5 6)',
    'POLYGON((1 2, 3 4, 5 6)),',
    'POLYGON(EMPTY)',
    'POLYGON(())',
    'MULTIPOINT()',
    'MULTIPOLYGON((1 2, 3 4, 5 6))',
    'GEOMETRYCOLLECTION(30 10)',
    'GEOMETRYCOLLECTION()',
    'GEOMETRYCOLLECTION(SRID=4326;POINT(30 10))',
    'SRID=4326;',
    'SRID=4326 POINT(30 10)',
    'SRID=;POINT(30 10)',
    'SRID=4326;SRID=4326;POINT(30 10)',
    'POINTEMPTY',
    'POINT EMPTY EMPTY',
    'POINT EMPTY(30 10)',
    '{"type":"Point"}',
  ]) {
    const fault = faultOf(text)
    t.match(fault, { code: 'InvalidWkt', status: 400, field: 'wkt' }, text)
    t.match(fault?.message, /^wkt .* \(character \d+\)$/, text)
    t.notMatch(fault?.message, /SECRET|nan|0x10/, text)
  }
  for (const value of [undefined, null, 5, {}, ['POINT(30 10)']]) {
    t.throws(() => readWkt(value, 'wkt'), { code: 'InvalidWkt', field: 'wkt' })
  }
})

t.test('another reference, curves and surfaces are refused by name', async (t) => {
  for (const srid of ['3857', '0', '4269', '043260', '999999999']) {
    const fault = faultOf(`SRID=${srid};POINT(30 10)`)
    t.match(fault, { code: 'UnknownSpatialReference', field: 'wkt' }, srid)
  }
  const names = ['CIRCULARSTRING', 'COMPOUNDCURVE', 'CURVEPOLYGON', 'MULTICURVE', 'MULTISURFACE']
  for (const name of [...names, 'TIN', 'POLYHEDRALSURFACE', 'TRIANGLE']) {
    for (const text of [name, `${name.toLowerCase()}z(`, `GEOMETRYCOLLECTION(${name} EMPTY)`]) {
      const fault = faultOf(text)
      t.match(fault, { code: 'UnknownGeometryType', field: 'wkt' }, text)
      t.match(fault?.message, name)
    }
  }
})

t.test('positions and nesting are bounded', async (t) => {
  const positions = (count: number) => `LINESTRING(${Array(count).fill('1 2').join()})`
  t.match(readWkt(positions(limits.vertexCount), 'wkt'), { type: 'LineString' })
  t.match(faultOf(positions(limits.vertexCount + 1)), { code: 'TooManyVertices' })
  const empties = (count: number) =>
    `GEOMETRYCOLLECTION(${Array(count).fill('POINT EMPTY').join()})`
  t.match(readWkt(empties(limits.vertexCount), 'wkt'), { type: 'GeometryCollection' })
  t.match(faultOf(empties(limits.vertexCount + 1)), { code: 'TooManyVertices' })
  const nested = (depth: number) =>
    `${'GEOMETRYCOLLECTION('.repeat(depth)}POINT(1 2)${')'.repeat(depth)}`
  t.match(readWkt(nested(limits.collectionDepthCount), 'wkt'), { type: 'GeometryCollection' })
  t.match(faultOf(nested(limits.collectionDepthCount + 1)), { code: 'TooComplex' })
})

t.test('texts as long as a body are refused in one pass', async (t) => {
  const long = 4 * 2 ** 20
  for (const text of [
    ' '.repeat(long),
    '('.repeat(long),
    'A'.repeat(long),
    'GEOMETRYCOLLECTION('.repeat(long / 19),
    `POINT(${'1'.repeat(long)}x 2)`,
    `POINT(1.${'1'.repeat(long)}x 2)`,
    `POINT(1e${'1'.repeat(long)} 2)`,
    `POINT(${' '.repeat(long)}`,
    `SRID=${'4'.repeat(long)};POINT(1 2)`,
    `SRID${' '.repeat(long)}=4326;POINT(1)`,
    `MULTIPOINT(${'EMPTY,'.repeat(long / 6)}`,
    `LINESTRING(1 2${' 3'.repeat(long / 2)})`,
  ]) {
    t.match(faultOf(text), { field: 'wkt' }, text.slice(0, 20))
  }
})

t.test('random geometries are read back as they were', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < ROUND_COUNT; round++) {
    const geometry = randomGeometry(random)
    const text = spelled(written(geometry, random), random)
    const read = readWkt(text, 'wkt')
    // One assertion for all of them would hide which one it was.
    if (JSON.stringify(read) !== JSON.stringify(geometry)) t.same(read, geometry, text)
  }
  t.pass(`${ROUND_COUNT} geometries`)
})

/** WKT by its grammar, with or without numbers that are read past. */
function written(geometry: DrawnGeometry, random: Random): string {
  const name = geometry.type.toUpperCase()
  const [tag, extra] = random.pick([
    ['', 0],
    [' ', 1],
    [' Z', 1],
    ['Z', 1],
    [' M ', 1],
    ['ZM', 2],
    [' ', 2],
  ] as const)
  const at = (position: Position) =>
    [...position, ...Array.from({ length: extra }, () => random.unit())].join(' ')
  const list = <T>(items: readonly T[], write: (item: T) => string) =>
    items.length === 0 ? ' EMPTY' : `(${items.map(write).join()})`
  const line = (positions: readonly Position[]) => list(positions, at)
  const rings = (polygon: readonly (readonly Position[])[]) => list(polygon, line)
  switch (geometry.type) {
    case 'Point': {
      const [lng, lat] = geometry.coordinates
      return `${name}${tag}${lng === undefined ? ' EMPTY' : `(${at([lng, lat as number])})`}`
    }
    case 'MultiPoint': {
      const bracketed = random.between(0, 1) === 0
      return `${name}${tag}${list(geometry.coordinates, (each) => (bracketed ? `(${at(each)})` : at(each)))}`
    }
    case 'LineString':
      return `${name}${tag}${line(geometry.coordinates)}`
    case 'Polygon':
    case 'MultiLineString':
      return `${name}${tag}${rings(geometry.coordinates)}`
    case 'MultiPolygon':
      return `${name}${tag}${list(geometry.coordinates, rings)}`
    default:
      return `${name}${list(geometry.geometries, (each) => written(each, random))}`
  }
}

function spelled(text: string, random: Random): string {
  const spaced = text.replace(/[(),]/g, (sign) => {
    const space = () => random.pick(['', '', ' ', '\n', '\t ', '\r\n'])
    return `${space()}${sign}${space()}`
  })
  const cased = random.pick([spaced, spaced.toLowerCase()])
  return `${random.pick(['', 'SRID=4326;', 'srid=4326; '])}${cased}`
}

function faultOf(text: string): ServiceError | undefined {
  try {
    readWkt(text, 'wkt')
    return undefined
  } catch (error) {
    return error as ServiceError
  }
}
