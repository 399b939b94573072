/**
 * The Deutscher Wetterdienst writes the holes of a warning as geocodes named EXCLUDE_POLYGON. Where geocodes were left
 * out, by `geocodes=fallback`, `geocodeSystems` or a profile, the holes were, too: people were selected who are outside
 * of the warning. `hickory cap` listed a hole among what an area adds.
 *
 * @module
 */

import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { describeAlert } from '../../src/cap/describe.js'
import { type CapOptions, drawingOfAlert } from '../../src/cap/drawing.js'
import { readNwsAlert } from '../../src/cap/nws-feature.js'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { alertAreas } from '../../src/operations/alerts/sent-alert.js'
import { answer } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { areaOf, type Facts, factsOf, geocode, writeAlert } from '../cap/writer.js'
import { weatherFeature } from '../support/data/alerts.js'
import { columnsOf } from '../support/data/columns.js'
import { namedAreas } from '../support/data/named-areas.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

/** Somebody every tenth of a degree, half a step beside all edges: from 9.95 to 12.85 east, and from 179.95 to 182.85. */
const columns = columnsOf(
  Array.from({ length: 60 * 60 }, (_, at) => {
    const lng = 9.95 + (at % 30) / 10 + (at % 60 < 30 ? 0 : 170)
    return {
      lng: Math.round((lng > 180 ? lng - 360 : lng) * 1e7),
      lat: Math.round((0.05 + Math.floor(at / 60) / 10) * 1e7),
      phone: `+999${at}`,
      contact: '',
    }
  }),
)
const areas = namedAreas({ 'WARNCELLID:1': { type: 'Point', coordinates: [0, 0] } })
const service = {
  ...localService([{ id: 1, label: 'A', columns }], 1_000),
  areas: () => areas,
}

async function countOf(request: JsonObject): Promise<number | string> {
  try {
    const found = await answer(service, { countsOnly: true, ...request }, inTime())
    return JSON.parse(await bodyText(found.json())).SourceRecords[0]?.Count ?? 0
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault
    return `${fault.code} ${fault.field}`
  }
}

const box = (west: number, east: number, south: number, north: number) =>
  [
    [south, west],
    [south, east],
    [north, east],
    [north, west],
    [south, west],
  ]
    .map((place) => place.join())
    .join(' ')

const polygon = (text: string): Facts => ['polygon', text]
const hole = (text: string, name = 'EXCLUDE_POLYGON') => geocode(name, text)
const alertOf = (...drawn: (readonly Facts[])[]) =>
  writeAlert(
    '1.2',
    factsOf(
      drawn.map((members) => areaOf(...members)),
      { expires: '2999-01-01T00:00:00-00:00' },
    ),
  )

/** All that leaves geocodes out or not; a profile alone refuses these alerts for what else they lack. */
const OPTIONS: readonly Omit<CapOptions, 'nowMs'>[] = [
  {},
  { geocodes: 'fallback' },
  { geocodes: 'union' },
  { geocodeSystems: ['WARNCELLID'] },
  { geocodeSystems: ['EXCLUDE_POLYGON'] },
  { geocodes: 'fallback', geocodeSystems: ['WARNCELLID'] },
]
const AREA = 'cap.info[0].area[0]'
/** 20 by 20 people, and 2 by 2 of them. */
const SQUARE = box(10, 12, 1, 3)
const HOLE = box(10.5, 10.7, 1.5, 1.7)

t.test('what excludes is a hole of its area, whatever the options say', async (t) => {
  const cases: [what: string, expected: number, ...Parameters<typeof alertOf>][] = [
    ['a hole', 400 - 4, [polygon(SQUARE), hole(HOLE)]],
    ['before it', 400 - 4, [hole(HOLE), polygon(SQUARE)]],
    ['two', 400 - 8, [polygon(SQUARE), hole(HOLE), hole(box(11, 11.2, 2, 2.2))]],
    [
      'two that lie over each other',
      400 - 6,
      [polygon(SQUARE), hole(HOLE), hole(box(10.6, 10.8, 1.5, 1.7))],
    ],
    ['the same one twice', 400 - 4, [polygon(SQUARE), hole(HOLE), hole(HOLE)]],
    [
      'of two polygons',
      800 - 8,
      [polygon(SQUARE), polygon(box(10, 12, 3, 5)), hole(box(10.5, 10.7, 2.8, 3.2))],
    ],
    ['half beyond', 400 - 2, [polygon(SQUARE), hole(box(9, 10.1, 1.5, 1.7))]],
    ['wholly beyond', 400, [polygon(SQUARE), hole(box(5, 6, 1.5, 1.7))]],
    ['around all of it', 0, [polygon(SQUARE), hole(box(9, 13, 0, 4))]],
    ['the polygon itself', 0, [polygon(SQUARE), hole(SQUARE)]],
    [
      'over the antimeridian',
      400 - 4,
      [polygon(box(180, 182, 1, 3)), hole(box(-179, -178.8, 1, 1.2))],
    ],
    [
      'written as a short way',
      400 - 4,
      [polygon(box(179.97, -178, 1, 3)), hole(box(-179, -178.8, 1, 1.2))],
    ],
    ['of one area alone', 400, [polygon(SQUARE), hole(HOLE)], [polygon(SQUARE)]],
    ['the same behind it', 400, [polygon(SQUARE)], [polygon(SQUARE), hole(HOLE)]],
    [
      'of either of two',
      400 - 4 + 396,
      [polygon(SQUARE), hole(HOLE)],
      [polygon(box(10, 12, 3, 5)), hole(box(10.5, 10.7, 3.5, 3.7))],
    ],
    ['that another fills', 400, [polygon(SQUARE), hole(HOLE)], [polygon(HOLE)]],
    ...[
      'exclude_polygon',
      'Exclude_Polygon',
      'EXCLUDE POLYGON',
      'exclude-polygon',
      ' EXCLUDE_POLYGON\n',
    ].map((name): [string, number, Facts[]] => [name, 396, [polygon(SQUARE), hole(HOLE, name)]]),
    [
      'of more than 64 characters',
      400 - 4,
      [polygon(SQUARE), hole(HOLE.replaceAll(' ', '0000000000 '))],
    ],
  ]
  for (const [what, expected, ...drawn] of cases) {
    const cap = alertOf(...drawn)
    for (const options of OPTIONS) {
      const name = `${what}, ${JSON.stringify(options)}`
      t.equal(await countOf({ cap, ...options } as JsonObject), expected, name)
      const alert = readAlert(cap, 'cap')
      const kept = alertAreas(alert, drawingOfAlert(alert, { nowMs: 0, ...options }), areas)
      const features = kept.flatMap(({ Drawing }) => (Drawing as { features: object[] }).features)
      const geoJSON = { type: 'FeatureCollection', features }
      t.equal(await countOf({ geoJSON } as JsonObject), expected, `${name}, kept`)
    }
  }
})

t.test('what excludes and cannot be followed is refused, whatever the options say', async (t) => {
  const cases: [what: string, fault: string, members: readonly Facts[]][] = [
    ...[
      'EXCLUDE_CIRCLE',
      'exclude',
      'Excluded',
      ' EXCLUDE_UGC',
      'EXCLUDE_POLYGON_2',
      'ＥＸＣＬＵＤＥ_POLYGON',
    ].map((name): [string, string, Facts[]] => [
      name,
      `CapExclusion ${AREA}.geocode[0]`,
      [polygon(SQUARE), hole('10,11 1', name)],
    ]),
    // By a name that is not known, positions that may be a hole.
    ...['HOLE', 'EXCEPT_POLYGON', 'AUSSCHLUSS', 'EX\u0421LUDE_POLYGON'].map(
      (name): [string, string, Facts[]] => [
        name,
        `CapExclusion ${AREA}.geocode[0]`,
        [polygon(SQUARE), hole(HOLE, name)],
      ],
    ),
    [
      'EX\u200bCLUSION',
      `CapExclusion ${AREA}.geocode[0]`,
      [polygon(SQUARE), hole(HOLE, 'EX\u200bCLUSION')],
    ],
    ['alone', `CapExclusion ${AREA}.geocode[0]`, [hole(HOLE)]],
    ['with geocodes', `CapExclusion ${AREA}.geocode[1]`, [geocode('WARNCELLID', '1'), hole(HOLE)]],
    [
      'with an empty polygon',
      `CapExclusion ${AREA}.geocode[0]`,
      [polygon(''), hole(HOLE), geocode('WARNCELLID', '1')],
    ],
    [
      'with a circle',
      `CapExclusion ${AREA}.geocode[0]`,
      [polygon(SQUARE), ['circle', '2,11 1'], hole(HOLE)],
    ],
    [
      'open',
      `CapPolygonOpen ${AREA}.geocode[0]`,
      [polygon(SQUARE), hole(HOLE.split(' ').slice(0, 4).join(' '))],
    ],
    [
      'of too few points',
      `CapPolygonTooFewPoints ${AREA}.geocode[0]`,
      [polygon(SQUARE), hole('1,10 1,11 1,10')],
    ],
    ['empty', `CapPolygonTooFewPoints ${AREA}.geocode[0]`, [polygon(SQUARE), hole('')]],
    [
      'crossing',
      `CapPolygonCrossing ${AREA}.geocode[0]`,
      [polygon(SQUARE), hole('1,10 2,11 1,11 2,10 1,10')],
    ],
    ['no numbers', `InvalidCap ${AREA}.geocode[0]`, [polygon(SQUARE), hole('809000001')]],
    ['exchanged', `AxesExchanged ${AREA}.geocode[0]`, [polygon(SQUARE), hole(box(1, 2, 100, 101))]],
  ]
  for (const [what, fault, members] of cases) {
    for (const options of OPTIONS) {
      const cap = alertOf(members)
      const name = `${what}, ${JSON.stringify(options)}`
      t.equal(await countOf({ cap, ...options } as JsonObject), fault, name)
    }
  }
  const beside = { cap: alertOf([polygon(SQUARE), hole(HOLE), geocode('WARNCELLID', '1')]) }
  t.equal(await countOf(beside), `CapExclusion ${AREA}.geocode[0]`)
  t.equal(
    await countOf({ ...beside, geocodeSystems: ['WARNCELLID'] }),
    `CapExclusion ${AREA}.geocode[0]`,
  )
  t.equal(await countOf({ ...beside, geocodes: 'fallback' }), 396)
  t.equal(await countOf({ ...beside, geocodeSystems: ['SAME'] }), 396)
})

t.test('a hole of each polygon counts against the positions of a request', async (t) => {
  const ring = (count: number) => {
    const points = Array.from({ length: count }, (_, at) => {
      const angle = (2 * Math.PI * at) / count
      return `${(2 + Math.sin(angle)).toFixed(6)},${(11 + Math.cos(angle)).toFixed(6)}`
    })
    return [...points, points[0]].join(' ')
  }
  const most = limits.vertexCount
  const shells = [polygon(box(10, 12, 1, 3)), polygon(box(10, 12, 1, 3.5))]
  const beyond = (at: number) =>
    Math.hypot((at % 20) / 10 - 0.95, Math.floor(at / 20) / 10 - 0.95) > 1
  const expected = Array.from({ length: 20 * 25 }, (_, at) => at).filter(beyond).length
  t.equal(await countOf({ cap: alertOf([...shells, hole(ring(most / 2 - 6))]) }), expected)
  t.match(await countOf({ cap: alertOf([...shells, hole(ring(most / 2))]) }), /^TooManyVertices/)
})

t.test('a hole is none of the geocodes that are listed', async (t) => {
  const alert = readAlert(alertOf([polygon(SQUARE), hole(HOLE)]), 'cap')
  const drawn = drawingOfAlert(alert, { nowMs: 0 })
  t.same(drawn.warnings, [])
  t.same(describeAlert(alert, drawn).areas, [['0.0', '1', '5', '1', '0', '', '', 'somewhere']])
  t.same(describeAlert(alert, drawn).bounds, [10, 1, 12, 3])
  const beyond = readAlert(alertOf([polygon(SQUARE), hole(box(5, 6, 1, 2))]), 'cap')
  t.same(describeAlert(beyond, drawingOfAlert(beyond, { nowMs: 0 })).bounds, [10, 1, 12, 3])
})

t.test('in CAP 1.0 and in an alert of api.weather.gov as well', async (t) => {
  const old = writeAlert(
    '1.0',
    factsOf([areaOf(polygon(SQUARE), ['geocode', `EXCLUDE_POLYGON=${HOLE}`])]),
  )
  t.equal(await countOf({ cap: old, expired: true, geocodes: 'fallback' }), 396)
  const ring = SQUARE.split(' ').map((pair) => pair.split(',').map(Number).reverse())
  const feature = (geocode: object) => weatherFeature(ring, { geocode })
  const cap = feature({ EXCLUDE_POLYGON: [HOLE] })
  t.equal(await countOf({ cap, geocodes: 'fallback' }), 396)
  t.throws(() => readNwsAlert(feature({ 'exclude ugc': ['TXC201'] }), 'cap'), {
    code: 'CapExclusion',
  })
  const request = { geoJSON: { ...feature({ EXCLUDE_POLYGON: [HOLE] }), geometry: null } }
  t.match(await countOf(request), /^CapExclusion /)
})
