/**
 * Mistakes that were answered 200: with nobody, with those who were to be left out, or with phones instead
 * of counts.
 *
 * @module
 */
import t from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { parse } from '../../src/selection/parse.js'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { validate } from '../../src/selection/validate.js'
import { drawnSquare } from '../support/data/drawn-square.js'

const feature = (properties: object, others: object = {}) => ({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', geometry: drawnSquare, properties, ...others }],
})

const mistakes: readonly [request: object, field: string, advice: RegExp][] = [
  [{ countOnly: true, geoJSON: drawnSquare }, 'countOnly', /do you mean countsOnly\?/],
  [{ wktt: 'POINT(1 2)' }, 'wktt', /do you mean wkt\?/],
  [{ extent: [0, 0, 1, 1] }, 'extent', /geoJSON/],
  [{ circle: { lat: 1, lng: 2, radius: 5 } }, 'circle', /geoJSON/],
  [{ polygon: [[0, 0]] }, 'polygon', /geoJSON/],
  [{ contextId: '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60' }, 'contextId', /known are countsOnly/],
  [{ geo_json: drawnSquare }, 'geo_json', /do you mean geoJSON\?/],
  [{ geoJSON: drawnSquare, sourceIds: [1] }, 'sourceIds', /do you mean sources/],
  [{ geoJSON: feature({ excluded: true }) }, property('excluded'), /do you mean exclude\?/],
  [{ geoJSON: feature({ isExcluded: 1 }) }, property('isExcluded'), /do you mean exclude\?/],
  [{ geoJSON: feature({ radius_km: 5 }) }, property('radius_km'), /do you mean radius\?/],
  [{ geoJSON: feature({ radiusInMeters: '5' }) }, property('radiusInMeters'), /radius\?/],
  [{ geoJSON: feature({ radii: '500m' }) }, property('radii'), /radius\?/],
  [{ geoJSON: feature({ buffers: 5 }) }, property('buffers'), /do you mean buffer\?/],
  [{ geoJSON: feature({ sourceId: 1 }) }, property('sourceId'), /do you mean sources\?/],
  [{ geoJSON: feature({ radius: 5, unit: 'km' }) }, property('unit'), /do you mean units\?/],
  [{ geoJSON: feature({ countsOnly: true }) }, property('countsOnly'), /into the request/],
  [
    { geoJSON: feature({}, { excluded: true }) },
    'geoJSON.features[0].excluded',
    /exclude, in the properties/,
  ],
]

function property(name: string): string {
  return `geoJSON.features[0].properties.${name}`
}

for (const [request, field, advice] of mistakes) {
  const text = JSON.stringify(request)
  t.test(text, async (t) => {
    for (const read of [parse, parseRequest]) {
      try {
        validate(read(Buffer.from(text)))
        t.fail('it was answered')
      } catch (error) {
        t.match(error, { code: 'UnknownMember', status: 400, field, message: advice })
        t.ok((error as ServiceError).message.includes(field))
      }
      const { warnings } = validate(read(Buffer.from(text)), 'warn').remarks
      t.match(warnings, [{ Code: 'UnknownMember', Path: field, Message: advice }])
    }
  })
}

t.test("a client's own properties are free", async (t) => {
  const own = {
    id: 7,
    name: 'Zone 3',
    source: 'USGS',
    included: true,
    include: true,
    style: { color: '#f00' },
    district: 4,
    excluded: false,
    radius_km: null,
    units: 'km',
    data_source: 'survey',
    description: 'radius 5 km',
    layer: 'water',
    title: 'x',
  }
  const drawing = {
    ...feature(own, { id: 'a', bbox: [0, 0, 1, 1], title: 'x', layer: {} }),
    name: 'all',
  }
  const { remarks, shapes } = validate({ geoJSON: drawing })
  t.same(remarks.warnings, undefined)
  t.equal(shapes.included.length, 1)
})

t.test('words that a client may have as well are warned of', async (t) => {
  for (const properties of [{ limit: 5 }, { after: 'x' }, { Distinct: true }]) {
    const [name] = Object.keys(properties)
    const { warnings } = validate({ geoJSON: feature(properties) }).remarks
    t.match(warnings, [{ Code: 'UnknownMember', Path: property(name) }])
  }
})
