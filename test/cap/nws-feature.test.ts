import t from 'tap'
import { drawingOfAlert } from '../../src/cap/drawing.js'
import { isNwsAlert, readNwsAlert } from '../../src/cap/nws-feature.js'
import type { ServiceError } from '../../src/errors.js'
import { bindByName } from '../../src/http/bind.js'
import type { HttpRequest } from '../../src/http/request.js'
import { operations } from '../../src/interface/operations.js'
import { validate } from '../../src/selection/validate.js'
import { namedAreas } from '../support/data/named-areas.js'
import { factsOf, writeAlert } from './writer.js'

const NOW = { nowMs: Date.UTC(2026, 4, 25) }
const ring = [
  [-95.4, 29.7],
  [-95.3, 29.7],
  [-95.3, 29.8],
  [-95.4, 29.7],
]

/** In the form of api.weather.gov. */
function featureOf(changes: object = {}, geometry: unknown = null) {
  const zone = 'https://api.weather.gov/zones/county/TXC201'
  return {
    id: 'https://api.weather.gov/alerts/urn:oid:2.49.0.1.840.0.1',
    type: 'Feature',
    geometry,
    properties: {
      '@type': 'wx:Alert',
      id: 'urn:oid:2.49.0.1.840.0.1',
      areaDesc: 'Harris, TX',
      geocode: { SAME: ['048201'], UGC: ['TXC201'] },
      affectedZones: [zone],
      references: [
        { '@id': 'x', identifier: 'urn:oid:2', sender: 'a@b', sent: '2026-05-24T16:00:00-05:00' },
      ],
      sent: '2026-05-24T16:49:00-05:00',
      effective: '2026-05-24T16:49:00-05:00',
      onset: null,
      expires: '2026-05-25T16:49:00-05:00',
      status: 'Actual',
      messageType: 'Update',
      category: 'Met',
      severity: 'Severe',
      certainty: 'Likely',
      urgency: 'Immediate',
      event: 'Flash Flood Warning',
      sender: 'w-nws.webmaster@noaa.gov',
      response: 'Avoid',
      parameters: { VTEC: ['/O.NEW/'] },
      ...changes,
    },
  }
}

t.test('alerts of api.weather.gov are told from other features', async (t) => {
  t.ok(isNwsAlert(featureOf()))
  t.ok(isNwsAlert(featureOf({ '@type': undefined })))
  t.notOk(isNwsAlert({ ...featureOf(), type: 'FeatureCollection' }))
  t.notOk(isNwsAlert({ type: 'Feature', geometry: null, properties: { radius: 5 } }))
  for (const other of [null, [], 'Feature', { type: 'Feature', properties: null }])
    t.notOk(isNwsAlert(other))
})

t.test('its members are those of CAP', async (t) => {
  const alert = readNwsAlert(featureOf(), 'geoJSON')
  t.match(alert, {
    identifier: 'urn:oid:2.49.0.1.840.0.1',
    msgType: 'Update',
    status: 'Actual',
    scope: undefined,
    references: [{ sender: 'a@b', identifier: 'urn:oid:2', sent: '2026-05-24T16:00:00-05:00' }],
    areReferencesWhole: true,
    infos: [
      { language: 'en-US', event: 'Flash Flood Warning', onset: undefined, severity: 'Severe' },
    ],
  })
  const { drawing } = drawingOfAlert(alert, NOW)
  t.same(drawing.features, [
    { type: 'Feature', geometry: null, properties: { area: ['SAME:048201', 'UGC:TXC201'] } },
  ])
})

t.test('its polygon is taken to the last digit', async (t) => {
  const fine = [
    [-95.412345678901, 29.7],
    [1e-7, 29.7],
    [-95.3, -3e-9],
    [-95.412345678901, 29.7],
  ]
  for (const [geometry, expected] of [
    [
      { type: 'Polygon', coordinates: [fine] },
      { type: 'Polygon', coordinates: [fine] },
    ],
    [
      { type: 'MultiPolygon', coordinates: [[fine], [ring]] },
      { type: 'MultiPolygon', coordinates: [[fine], [ring]] },
    ],
  ]) {
    const { drawing, warnings } = drawingOfAlert(
      readNwsAlert(featureOf({}, geometry), 'geoJSON'),
      NOW,
    )
    t.same(drawing.features[0].geometry, expected)
    t.match(warnings, [{ code: 'PolygonAndGeocodes' }, { code: 'SeveralGeocodeSystems' }])
  }
})

t.test('zones for fires are not taken for public zones of the same code', async (t) => {
  const areasOf = (changes: object) =>
    drawingOfAlert(readNwsAlert(featureOf(changes), 'geoJSON'), NOW).drawing.features[0].properties
      .area
  const fire = 'https://api.weather.gov/zones/fire/TXZ213'
  t.same(areasOf({ geocode: { UGC: ['TXZ213', 'TXZ214'] }, affectedZones: [fire] }), [
    'UGC-FIRE:TXZ213',
    'UGC:TXZ214',
  ])
  t.same(areasOf({ geocode: undefined, affectedZones: [fire] }), 'UGC-FIRE:TXZ213')
  const both = [fire, 'https://api.weather.gov/zones/forecast/TXZ213']
  t.same(areasOf({ geocode: { UGC: ['TXZ213'] }, affectedZones: both }), [
    'UGC:TXZ213',
    'UGC-FIRE:TXZ213',
  ])
  const marine = 'https://api.weather.gov/zones/forecast/GMZ330'
  t.same(areasOf({ geocode: { SAME: ['048201'] }, affectedZones: [marine] }), [
    'SAME:048201',
    'UGC:GMZ330',
  ])
  t.same(areasOf({ geocode: {} }), 'UGC:TXC201')
})

t.test('what is wrong is refused by its path', async (t) => {
  const cases: [feature: unknown, code: string, field: string][] = [
    [featureOf({ status: 'Real' }), 'InvalidCap', 'geoJSON.properties.status'],
    [featureOf({ messageType: undefined }), 'InvalidCap', 'geoJSON.properties'],
    [featureOf({ expires: 'soon' }), 'InvalidCap', 'geoJSON.properties.expires'],
    [featureOf({ affectedZones: ['zone 5'] }), 'InvalidCap', 'geoJSON.properties.affectedZones[0]'],
    [featureOf({ geocode: { SAME: [48201] } }), 'InvalidCap', 'geoJSON.properties.geocode.SAME[0]'],
    [featureOf({}, { type: 'Point', coordinates: [1, 2] }), 'InvalidCap', 'geoJSON.geometry'],
    [
      featureOf({}, { type: 'Polygon', coordinates: [ring, ring] }),
      'InvalidCap',
      'geoJSON.geometry.coordinates',
    ],
    [
      featureOf({}, { type: 'Polygon', coordinates: [['x']] }),
      'InvalidCap',
      'geoJSON.geometry.coordinates',
    ],
    [
      featureOf({}, { type: 'Polygon', coordinates: [ring.slice(1)] }),
      'CapPolygonTooFewPoints',
      'geoJSON.geometry.coordinates',
    ],
    [featureOf({ geocode: {}, affectedZones: [] }), 'CapAreaMissing', 'geoJSON.properties'],
    [
      featureOf({ expires: '2026-05-24T18:00:00-05:00' }),
      'CapExpired',
      'geoJSON.properties.expires',
    ],
  ]
  for (const [feature, code, field] of cases) {
    t.match(faultOf(feature), { code, field }, `${code} at ${field}`)
  }
})

function faultOf(feature: unknown): ServiceError | undefined {
  try {
    drawingOfAlert(readNwsAlert(feature, 'geoJSON'), NOW)
  } catch (fault) {
    return fault as ServiceError
  }
  return undefined
}

t.test('what selects by its geocodes is not told to select nobody', async (t) => {
  const polygon = { type: 'Polygon', coordinates: [ring] }
  const areas = namedAreas({ 'SAME:048201': polygon, 'UGC:TXC201': polygon })
  const geoJSON = featureOf({ expires: '9999-01-01T00:00:00-00:00' })
  const { shapes, remarks } = validate({ geoJSON }, undefined, undefined, areas)
  t.equal(shapes.included[0].polygons.polygonStarts.length, 3)
  t.same(
    remarks.warnings?.map(({ Code }) => Code),
    ['SeveralGeocodeSystems'],
  )
})

t.test('an alert in a field of a form is a text of XML, or JSON', async (t) => {
  const alert = writeAlert('1.2', factsOf([]))
  const request = { query: new Map(), header: () => undefined } as never as HttpRequest
  const membersOf = (cap: string) =>
    bindByName(request, operations.RecipientRequest, { kind: 'form', fields: [['cap', cap]] })
  t.same(membersOf(alert), { cap: alert })
  t.same(membersOf(JSON.stringify(featureOf())), { cap: featureOf() })
})
