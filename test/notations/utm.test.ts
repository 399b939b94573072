import t from 'tap'
import { limits } from '../../src/limits.js'
import type { Position } from '../../src/notations/drawn.js'
import { readUtm } from '../../src/notations/utm.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { toUtm } from '../support/transverse-mercator.js'

t.test('known references are where PROJ has them', async (t) => {
  const cases: [string, number, number][] = [
    ['15 R 270000 3290000', -95.3776885178, 29.7188587043],
    ['56H 334873 6252266', 151.2149978343, -33.8570007966],
    ['56 south 334873 6252266', 151.2149978343, -33.8570007966],
    ['32 V 297000 6700000', 5.3163489022, 60.3853133283],
    ['33X 500000 8700000', 15, 78.3730256722],
    ['1 C 500000 1200000', -177, -79.2690278644],
    ['60N 800000 10000', 179.6950265547, 0.0903723947],
  ]
  for (const [text, lng, lat] of cases) {
    const [readLng, readLat] = pointOf(text)
    t.ok(Math.abs(readLng - lng) < 1e-9 && Math.abs(readLat - lat) < 1e-9, text)
  }
})

t.test('a place is the same in every spelling', async (t) => {
  const place = pointOf('15 R 270000 3290000')
  for (const text of [
    '15R 270000 3290000',
    ' 15  r  270000.0  3290000. ',
    '15 north 270000 3290000',
    '15North 270000 3290000',
    '15 N 270000 3290000',
    '15R 270000mE 3290000mN',
    '15R 270000 mE, 3290000 mN',
    '15R 270000E 3290000N',
    '15R 270000,3290000',
  ]) {
    t.same(pointOf(text), place, text)
  }
  t.same(readUtm(['15R 270000 3290000'], 'utm'), { type: 'MultiPoint', coordinates: [place] })
  t.same(readUtm([], 'utm'), { type: 'MultiPoint', coordinates: [] })
})

t.test('what could be two places, or is none, is refused by its place', async (t) => {
  for (const [text, problem] of [
    ['17S 630000 3975000', /write north or south/],
    ['56S 334873 6252266', /write north or south/],
    ['15R 3290000 270000', /before its northing/],
    ['15Q 270000 3290000', /not in its band/],
    ['15S 270000', /must be zone/],
    ['15 south 270000 200000', /not in its band/],
    ['15 north 270000 9500000', /not in its band/],
    ['15 north 270000 10000001', /northing from 0/],
    ['15 R 99999 3290000', /easting from/],
    ['15 R 900001 3290000', /easting from/],
    ['0 R 270000 3290000', /zone from 1 to 60/],
    ['61 R 270000 3290000', /zone from 1 to 60/],
    ['15 I 270000 3290000', /band from C to X/],
    ['15 A 270000 3290000', /polar/],
    ['15 Z 270000 3290000', /polar/],
    ['R 270000 3290000', /must be zone/],
    ['15 270000 3290000', /must be zone/],
    ['15 R 270000 3290000 5', /must be zone/],
    ['15 R -270000 3290000', /must be zone/],
    ['15 R 2.7e5 3290000', /must be zone/],
    ['15 R 270,000 3,290,000', /must be zone/],
    ['15 R 2700003290000', /must be zone/],
    ['15R270000 3290000', /must be zone/],
    ['', /must be zone/],
    [`15 R ${' '.repeat(2 ** 20)}`, /longer/],
  ] as const) {
    const expected = { code: 'InvalidGridReference', status: 400, message: problem }
    t.throws(() => readUtm(text, 'utm'), { ...expected, field: 'utm' }, text.slice(0, 40))
    const list = ['15R 270000 3290000', text]
    t.throws(() => readUtm(list, 'utm'), { ...expected, field: 'utm[1]' }, text.slice(0, 40))
  }
  for (const value of [undefined, null, 5, {}]) {
    t.throws(() => readUtm(value, 'utm'), { code: 'InvalidGridReference', field: 'utm' })
  }
  const many = Array(limits.cellCount + 1).fill('15R 270000 3290000')
  t.throws(() => readUtm(many, 'utm'), { code: 'InvalidGridReference', field: 'utm' })
})

t.test('random places are read back to a tenth of a millimetre', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 10_000; round++) {
    const zone = random.between(1, 60)
    const lat = 164 * random.unit() - 80
    const lng = 6 * zone - 183 + 7 * random.unit() - 3.5
    const [easting, northing] = toUtm(lng, lat, zone, lat < 0)
    const word = random.pick([lat < 0 ? ' south' : 'N', bandOf(lat)])
    if (word === 'S') continue
    const read = pointOf(`${zone}${word} ${easting.toFixed(6)} ${northing.toFixed(6)}`)
    const lngOff = Math.abs(((read[0] - lng + 540) % 360) - 180) * Math.cos((lat * Math.PI) / 180)
    const isNear = lngOff < 1e-9 && Math.abs(read[1] - lat) < 1e-9
    if (!isNear) t.fail(`${zone}${word} ${easting} ${northing}: ${read} is not ${lng}, ${lat}`)
  }
  t.pass('10,000 places')
})

function bandOf(lat: number): string {
  return 'CDEFGHJKLMNPQRSTUVWXX'[Math.floor((lat + 80) / 8)]
}

function pointOf(text: string): Position {
  return (readUtm(text, 'utm') as { coordinates: Position }).coordinates
}
