/**
 * Names nearly ours that were overlooked, and clients' own names that were refused.
 *
 * @module
 */
import t from 'tap'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { validate } from '../../src/selection/validate.js'
import { drawnSquare } from '../support/data/drawn-square.js'

const feature = (properties: object, others: object = {}) => ({
  type: 'Feature',
  geometry: drawnSquare,
  properties,
  ...others,
})

function read(geoJSON: object, unknownMembers: 'refuse' | 'warn' = 'refuse') {
  const request = parseRequest(Buffer.from(JSON.stringify({ geoJSON })))
  return validate(request, unknownMembers).remarks.warnings ?? []
}

const refused: readonly [properties: object, advice: RegExp][] = [
  [{ radius: 5, radiusUnits: 'miles' }, /properties\.radiusUnits .*do you mean units\?/],
  [{ buffer: 5, distance_unit: 'km' }, /properties\.distance_unit .*do you mean units\?/],
  [{ excludeSources: [1] }, /properties\.excludeSources .*do you mean sources\?/],
  [{ properties: { exclude: true } }, /properties\.properties\.exclude .*in the properties/],
  [{ properties: { radius_km: 5 } }, /properties\.properties\.radius_km .*in the properties/],
]
for (const [properties, advice] of refused) {
  t.test(`${JSON.stringify(properties)} is refused`, async (t) => {
    t.throws(() => read(feature(properties)), { code: 'UnknownMember', message: advice })
  })
}

const warned: readonly [drawing: object, path: string][] = [
  [feature({ include: false }), 'geoJSON.properties.include'],
  [feature({ Included: 'false' }), 'geoJSON.properties.Included'],
  [feature({ mode: 'circle', radiusKilometers: 1.2 }), 'geoJSON.properties.radiusKilometers'],
  [feature({ isCircle: true, radiusInKm: 2 }), 'geoJSON.properties.radiusInKm'],
  [{ geometry: drawnSquare, attributes: { isExcluded: true } }, 'geoJSON.attributes.isExcluded'],
  [{ geometry: drawnSquare, attributes: { Buffer_Feet: 90 } }, 'geoJSON.attributes.Buffer_Feet'],
]
for (const [drawing, path] of warned) {
  t.test(`${path} is warned of`, async (t) => {
    t.match(read(drawing), [{ Code: 'UnknownMember', Path: path }])
    t.equal(read(drawing).length, 1)
  })
}

t.test('what only has one of our words is free', async (t) => {
  const own = [
    { 'source:date': '2012', source_ref: 7, SOURCE_SCALE: 24_000, sourceYear: 2019 },
    { radius: 5, radiusUnit: 'meters' },
    { include: true, included: null },
    { properties: { name: 'A', source: 'USGS' } },
  ]
  for (const properties of own) t.same(read(feature(properties)), [], JSON.stringify(properties))
  const attributes = { OBJECTID: 1, SOURCE: 'Survey', Shape__Area: 1.5 }
  t.same(read({ geometry: drawnSquare, attributes }), [])
})

t.test('thousands of names that are like one member take no longer than others', async (t) => {
  // Each was compared with all others: this many took minutes.
  const properties = spellings('units', 20_000)
  t.same(read(feature(Object.fromEntries(properties))), [])
  const members = Object.fromEntries(spellings('properties', 20_000))
  t.same(read({ ...members, ...feature({}) }), [])
})

/** Members that are spelt in as many ways: separators do not count. */
function spellings(name: string, count: number): [string, number][] {
  return Array.from({ length: count }, (_, i) => {
    const digits = [...i.toString(3).padStart(10, '0')]
    return [name + digits.map((digit) => '_- '[Number(digit)]).join(''), 1]
  })
}
