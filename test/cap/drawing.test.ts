import t from 'tap'
import { readAlert } from '../../src/cap/alert.js'
import { type CapOptions, drawingOfAlert } from '../../src/cap/drawing.js'
import type { Alert } from '../../src/cap/model.js'
import type { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { areaOf, type Facts, factsOf, geocode, infoOf, writeAlert } from './writer.js'

const SQUARE = '10,20 10,21 11,21 11,20 10,20'
const AREA = 'cap.info[0].area[0]'
const NOW = { nowMs: Date.UTC(2026, 4, 25) }

const alertOf = (...members: readonly Facts[]): Alert =>
  readAlert(writeAlert('1.2', factsOf([areaOf(...members)])), 'cap')

t.test('latitude comes first in an alert, and last in a drawing', async (t) => {
  const { drawing, paths, warnings } = drawingOfAlert(
    alertOf(
      ['polygon', SQUARE],
      ['polygon', '0,0 0,1 1,1 0,0'],
      ['circle', '32.9525,-115.5527 16.1'],
    ),
    NOW,
  )
  t.same(drawing.features, [
    {
      type: 'Feature',
      geometry: {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [20, 10],
              [21, 10],
              [21, 11],
              [20, 11],
              [20, 10],
            ],
          ],
          [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0],
            ],
          ],
        ],
      },
      properties: {},
    },
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [-115.5527, 32.9525] },
      properties: { radius: 16_100 },
    },
  ])
  t.same(paths, [AREA, `${AREA}.circle[0]`])
  t.same(warnings, [])
})

t.test('a circle of the radius 0 is its centre, and says so', async (t) => {
  const { drawing, warnings } = drawingOfAlert(alertOf(['circle', '1,2 0']), NOW)
  t.same(drawing.features[0], {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [2, 1] },
    properties: {},
  })
  t.match(warnings, [{ code: 'CirclePoint', path: `${AREA}.circle[0]` }])
})

t.test('geocodes are names for the gazetteer, whatever the spelling', async (t) => {
  const spelt: [name: string, value: string, expected: string][] = [
    ['SAME', '048201', 'SAME:048201'],
    ['FIPS6', '048201', 'SAME:048201'],
    ['FIPS6', '48201', 'FIPS6:48201'],
    ['UGC', 'TXC201', 'UGC:TXC201'],
    ['profile:CAP-CP:Location:0.3', '4819', 'CAP-CP:4819'],
    ['layer:EC-MSC-SMC:1.0:CLC', '061100', 'CLC:061100'],
    ['emma_id', 'AT002', 'EMMA_ID:AT002'],
    ['NUTS3', 'AT331', 'NUTS3:AT331'],
    ['ISO 3166-2', 'AU-NSW', 'ISO3166-2:AU-NSW'],
    ['counties', '48201', 'counties:48201'],
  ]
  for (const [name, value, area] of spelt) {
    const { drawing } = drawingOfAlert(alertOf(geocode(name, value)), NOW)
    t.same(drawing.features, [{ type: 'Feature', geometry: null, properties: { area } }], name)
  }
  const { drawing } = drawingOfAlert(
    alertOf(geocode('SAME', '1'), geocode('SAME', '2'), geocode('SAME', '1')),
    NOW,
  )
  t.same(
    drawing.features.map(({ properties }) => properties.area),
    [['SAME:1', 'SAME:2']],
  )
})

t.test('each thing that is wrong with an area has its code', async (t) => {
  const cases: [member: Facts, code: string][] = [
    [['polygon', '10,20 10,21 11,21 11,20'], 'CapPolygonOpen'],
    [['polygon', '10,20 10,21 10,20'], 'CapPolygonTooFewPoints'],
    [['polygon', ''], 'CapPolygonTooFewPoints'],
    [['polygon', '10,20 11,21 10,21 11,20 10,20'], 'CapPolygonCrossing'],
    [['polygon', '10,20 10,20 10,20 10,20'], 'DegenerateRing'],
    [['polygon', '120,20 120,21 121,21 121,20 120,20'], 'AxesExchanged'],
    [['polygon', '95,120 95,121 96,121 95,120'], 'LatitudeOutOfRange'],
    [['polygon', '20,120 20,1210 21,121 20,120'], 'LongitudeOutOfRange'],
    [['polygon', '10, 20 10, 21 11, 21 10, 20'], 'InvalidCap'],
    [['polygon', '10;20 10;21 11;21 10;20'], 'InvalidCap'],
    [['polygon', '10,20,0 10,21,0 11,21,0 10,20,0'], 'InvalidCap'],
    [['polygon', '0x10,20 10,21 11,21 0x10,20'], 'InvalidCap'],
    [['circle', '120,20 1'], 'AxesExchanged'],
    [['circle', '10,20'], 'InvalidCap'],
    [['circle', '10,20 1 2'], 'InvalidCap'],
    [['circle', '10,20 -1'], 'RadiusNotPositive'],
    [['circle', '10,20 20016'], 'InvalidRadius'],
    [geocode('layer:unknown:1', '5'), 'UnknownGeocodeSystem'],
    [geocode('SAME', ''), 'UnknownGeocodeSystem'],
    [geocode('SAME', '1'.repeat(limits.geocodeCharCount + 1)), 'UnknownGeocodeSystem'],
  ]
  for (const [member, code] of cases) {
    const fault = faultOf(alertOf(member))
    t.match(fault, { code, status: 400, field: `${AREA}.${member[0]}[0]` }, `${member[1]}: ${code}`)
    t.notMatch(fault?.message, /121|unknown:1/, 'without a word of the alert')
  }
  t.match(faultOf(alertOf()), { code: 'CapAreaMissing', field: AREA })
  const longest = geocode('SAME', '1'.repeat(limits.geocodeCharCount))
  t.equal(faultOf(alertOf(longest)), undefined)
})

t.test('points and features are bounded', async (t) => {
  const zigzag = (count: number) => {
    const points = Array.from({ length: count - 3 }, (_, i) => `${i % 2},${(i * 0.001).toFixed(3)}`)
    return ['-1,0', ...points, `-1,${((count - 4) * 0.001).toFixed(3)}`, '-1,0'].join(' ')
  }
  t.match(faultOf(alertOf(['polygon', zigzag(limits.vertexCount + 1)])), {
    code: 'TooManyVertices',
  })
  const halves = [1, 2].map((i): Facts => ['polygon', zigzag(limits.vertexCount / 2 + i)])
  t.match(faultOf(alertOf(...halves)), { code: 'TooManyVertices' })
  t.match(faultOf(alertOf(['polygon', zigzag(20_001)])), undefined)
  const spokes = Array.from({ length: 2_000 }, (_, i) => `0,0 ${(8 * Math.sin(i)).toFixed(6)},9`)
  t.match(faultOf(alertOf(['polygon', `${spokes.join(' ')} 0,0`])), {
    code: 'TooComplex',
    field: `${AREA}.polygon[0]`,
  })
  const circles = (count: number) =>
    Array.from({ length: count }, (_, i): Facts => ['circle', `1,${i / 100} 1`])
  t.equal(faultOf(alertOf(...circles(limits.featureCount))), undefined)
  t.match(faultOf(alertOf(...circles(limits.featureCount + 1))), { code: 'TooComplex' })
})

t.test('beside polygons and circles, geocodes count as CAP says or as profiles say', async (t) => {
  const both = alertOf(['polygon', SQUARE], geocode('SAME', '048201'), geocode('UGC', 'TXC201'))
  const union = drawingOfAlert(both, NOW)
  t.equal(union.drawing.features.length, 2)
  t.match(union.warnings, [{ code: 'PolygonAndGeocodes' }, { code: 'SeveralGeocodeSystems' }])
  const fallback = drawingOfAlert(both, { ...NOW, geocodes: 'fallback' })
  t.equal(fallback.drawing.features.length, 1)
  t.match(fallback.warnings, [{ code: 'GeocodesLeftOut', path: AREA }])
  const alone = drawingOfAlert(alertOf(geocode('SAME', '1')), { ...NOW, geocodes: 'fallback' })
  t.equal(alone.drawing.features.length, 1, 'where there is no shape, they count')
  const chosen = drawingOfAlert(both, { ...NOW, geocodeSystems: ['ugc'] })
  t.same(chosen.drawing.features[1].properties, { area: 'UGC:TXC201' })
  // A code of FIPS6 is looked up as one of SAME, and is asked for by either name.
  const county = alertOf(['polygon', SQUARE], geocode('FIPS6', '048201'))
  for (const system of ['SAME', 'fips6']) {
    const { drawing } = drawingOfAlert(county, { ...NOW, geocodeSystems: [system] })
    t.same(drawing.features[1]?.properties, { area: 'SAME:048201' }, system)
  }
  const same = alertOf(geocode('FIPS6', '048201'), geocode('SAME', '048201'))
  t.same(drawingOfAlert(same, NOW).warnings, [], 'one system, under two names')
  const missing = { ...NOW, geocodeSystems: ['NUTS3'] }
  t.match(faultOf(alertOf(geocode('SAME', '1')), missing), { code: 'CapAreaMissing', field: AREA })
})

t.test('an empty shape is passed over only where the area has more', async (t) => {
  const { drawing, warnings } = drawingOfAlert(alertOf(['polygon', ''], geocode('SAME', '1')), NOW)
  t.same(
    drawing.features.map(({ properties }) => properties.area),
    ['SAME:1'],
  )
  t.match(warnings, [{ code: 'EmptyShape', path: `${AREA}.polygon[0]` }])
})

t.test('as many shapes as an alert can have take no more than their number', async (t) => {
  // Looking through all shapes for each of them would take minutes.
  const circles = Array.from(
    { length: limits.capElementCount - 50 },
    (_, i): Facts => ['circle', `0,${i / 1_000} 1`],
  )
  const area: Facts = ['area', [['areaDesc', 'everywhere'], ...circles]]
  const alert = readAlert(writeAlert('1.2', factsOf([area])), 'cap')
  t.match(faultOf(alert, NOW), { code: 'TooComplex' })
})

t.test('an alert that is not for the public says so', async (t) => {
  for (const scope of ['Public', 'Restricted', 'Private']) {
    const alert = readAlert(
      writeAlert('1.2', factsOf([areaOf(geocode('SAME', '1'))], { scope })),
      'cap',
    )
    const { warnings } = drawingOfAlert(alert, NOW)
    const expected = scope === 'Public' ? [] : [{ code: 'CapNotPublic', path: 'cap.scope' }]
    t.match(warnings, expected, scope)
    t.equal(warnings.length, expected.length, scope)
  }
})

t.test('heights are told, and select nobody and exclude nobody', async (t) => {
  const { drawing, warnings } = drawingOfAlert(
    alertOf(['polygon', SQUARE], ['altitude', '1000']),
    NOW,
  )
  t.equal(drawing.features.length, 1)
  t.match(warnings, [{ code: 'AltitudeIgnored', path: AREA }])
})

t.test('the languages of an alert are its union, or one is chosen', async (t) => {
  const info = (language: string, circle: string): Facts => [
    'info',
    infoOf([areaOf(['polygon', SQUARE], ['circle', circle])], { language }),
  ]
  const head = factsOf([]).filter(([name]) => name !== 'info')
  const facts = [...head, info('en-CA', '1,2 3'), info('fr-CA', '1,2 4'), info('', '1,2 5')]
  const alert = readAlert(writeAlert('1.2', facts), 'cap')
  const radii = (options: Partial<CapOptions>) =>
    drawingOfAlert(alert, { ...NOW, ...options }).drawing.features.flatMap(
      ({ properties }) => properties.radius ?? [],
    )
  t.same(radii({}), [3000, 4000, 5000])
  t.same(radii({ language: 'fr' }), [4000])
  t.same(radii({ language: 'EN' }), [3000, 5000], 'without a language it is en-US')
  t.same(radii({ language: 'en-us' }), [5000])
  t.match(faultOf(alert, { ...NOW, language: 'f' }), { code: 'CapLanguageMissing' })
  t.match(faultOf(alert, { ...NOW, language: 'en-US-x' }), { code: 'CapLanguageMissing' })
  const polygons = drawingOfAlert(alert, NOW).drawing.features.filter(
    ({ geometry }) => geometry?.type === 'Polygon',
  )
  t.equal(polygons.length, 1, 'what is said again in another language is drawn once')
})

t.test('what has expired is refused, unless that is asked for', async (t) => {
  const head = factsOf([]).filter(([name]) => name !== 'info')
  const info = (hour: string): Facts => [
    'info',
    infoOf([areaOf(['circle', `1,${hour} 3`])], { expires: `2026-05-25T${hour}:00:00-00:00` }),
  ]
  const alert = readAlert(writeAlert('1.2', [...head, info('10'), info('12')]), 'cap')
  const at = (hour: number) => ({ nowMs: Date.UTC(2026, 4, 25, hour) })
  t.same(drawingOfAlert(alert, at(9)).warnings, [])
  const partly = drawingOfAlert(alert, at(10))
  t.equal(partly.drawing.features.length, 2)
  t.match(partly.warnings, [{ code: 'InfoExpired', path: 'cap.info[0].expires' }])
  t.match(faultOf(alert, at(12)), { code: 'CapExpired', status: 422, field: 'cap.info[0].expires' })
  t.equal(drawingOfAlert(alert, { ...at(12), expired: true }).drawing.features.length, 2)
})

t.test('an alert without a place is refused, and a Cancel points to what it cancels', async (t) => {
  const head = (msgType: string) => factsOf([], { msgType }).filter(([name]) => name !== 'info')
  const alert = (facts: Facts[]) => readAlert(writeAlert('1.2', facts), 'cap')
  t.match(faultOf(alert(head('Alert'))), { code: 'CapAreaMissing', message: /no info/ })
  t.match(faultOf(alert(factsOf([]))), { code: 'CapAreaMissing', field: 'cap.info[0]' })
  t.match(faultOf(alert(head('Cancel'))), { code: 'CapAreaMissing', message: /references/ })
  t.match(faultOf(alert(factsOf([], { msgType: 'Cancel' }))), {
    code: 'CapAreaMissing',
    field: 'cap',
  })
  const cancel = alert(
    factsOf([areaOf(['circle', '1,2 3'])], { msgType: 'Cancel', status: 'Test' }),
  )
  t.match(drawingOfAlert(cancel, NOW).warnings, [
    { code: 'CapNotActual', path: 'cap.status' },
    { code: 'CapMessageType', path: 'cap.msgType' },
  ])
})

function faultOf(alert: Alert, options: CapOptions = NOW): ServiceError | undefined {
  try {
    drawingOfAlert(alert, options)
  } catch (fault) {
    return fault as ServiceError
  }
  return undefined
}
