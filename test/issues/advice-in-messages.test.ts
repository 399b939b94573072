/**
 * Messages that told what is wrong and not what to do: a type in another letter case was "unknown", a path that is
 * nearly one was "nothing", a ZIP was "not UTF-8", and names of other services were answered with all of ours.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { readContent } from '../../src/http/read-body.js'
import type { HttpRequest } from '../../src/http/request.js'
import { nothingAt } from '../../src/http/router.js'
import { bind } from '../../src/interface/bind.js'
import { GeometrySchema } from '../../src/interface/geometry.js'
import { readBbox } from '../../src/notations/bbox.js'
import { readWkt } from '../../src/notations/wkt.js'
import { contextIdOf } from '../../src/operations/contexts.js'
import { parse } from '../../src/selection/parse.js'
import { Remarks } from '../../src/selection/remarks.js'
import { refuseUnknownSources } from '../../src/selection/source-ids.js'
import { validate } from '../../src/selection/validate.js'
import { parseGuid } from '../../src/store/documents.js'

const point = { type: 'Point', coordinates: [1, 2] }
const mercator = [-10_608_000, 3_480_000]
const feature = (geometry: object, properties = {}) => ({ type: 'Feature', geometry, properties })

const requests: readonly [request: object, message: RegExp][] = [
  ...Object.entries({
    polygon: 'Polygon',
    POINT: 'Point',
    Multipolygon: 'MultiPolygon',
    linestring: 'LineString',
    multiPoint: 'MultiPoint',
    MULTILINESTRING: 'MultiLineString',
    geometrycollection: 'GeometryCollection',
    Poligon: 'Polygon',
    esriGeometryPolygon: 'Polygon',
  }).map(([type, meant]): [object, RegExp] => [
    { geoJSON: { type, coordinates: [1, 2] } },
    new RegExp(`^geoJSON\\.type must be .*: do you mean ${meant}\\? types are case-sensitive$`),
  ]),
  [
    { geoJSON: { coordinates: [1, 2] } },
    /Point, MultiPoint or GeometryCollection, and is missing$/,
  ],
  [{ geoJSON: { type: 'Circle', coordinates: [1, 2] } }, /Feature has the property radius/],
  [{ geoJSON: { type: 'feature', geometry: point } }, /must be "Feature", in this letter case$/],
  [{ geoJSON: { features: [point] } }, /must be "Feature": a geometry is the member geometry of/],
  [{ geoJSON: feature(feature(point)) }, /: a Feature has its geometry in geometry$/],
  [{ geoJSON: [feature(point)] }, /: several are the features of a FeatureCollection$/],
  [{ geoJSON: JSON.stringify(point) }, /must be an object, not a string: .* written twice$/],
  [
    { geoJSON: { type: 'Point', coordinates: mercator } },
    /look like metres, .*EPSG:3857.*EPSG:4326/,
  ],
  [{ geoJSON: { x: mercator[0], y: mercator[1] } }, /Esri its spatialReference$/],
  [{ wkt: `POINT(${mercator.join(' ')})` }, /look like metres/],
  [{ geoJSON: { type: 'Point', coordinates: [29.7, -95.3] } }, /these look exchanged$/],
  [{ geoJSON: { type: 'Point', coordinates: [170, 95] } }, /from -90 to 90$/],
  [{ sources: ['Mobile'] }, /^sources\[0\] must be the id of a source, .*GET \/api\/sources lists/],
  [
    { geoJSON: feature(point, { sources: ['a'] }) },
    /properties\.sources\[0\] .*GET \/api\/sources/,
  ],
  [{ areas: [48201] }, /a layer and a key such as counties:48201, not a number$/],
  [{ lat: 29.7, lng: -95.3 }, /^lat is not known: a place is a Point in geoJSON; a radius/],
  [{ zip_code: 77002 }, /^zip_code is not known: areas names areas, such as counties:48201$/],
  [{ page: 2 }, /^page is not known: a list is read in pages with limit and after$/],
  [{ count: true }, /^count is not known: do you mean countsOnly\?$/],
  [{ RecipientRequest: {} }, /: the members of a request are not inside another one$/],
]

t.test('what a request has is told with what to write', async (t) => {
  for (const [request, message] of requests) {
    t.match(
      messageOf(() => validate(request as never)),
      message,
      JSON.stringify(request),
    )
  }
  t.match(
    messageOf(() => refuseUnknownSources([{ id: 9, path: 'sources[0]' }], { sources: [] })),
    /^sources\[0\] is not the id of a source: GET \/api\/sources lists ids and labels$/,
  )
  t.match(
    messageOf(() => readBbox([...mercator, ...mercator], 'bbox')),
    /look like metres/,
  )
  const { onUnknown } = new Remarks()
  const noGuid = messageOf(() => contextIdOf({ Id: '1' }, { onUnknown }))
  t.equal(noGuid, 'Id is not a Guid: 32 hexadecimal digits with or without hyphens')
  const geoJson = messageOf(() => bind(GeometrySchema, { type: 'Point', coordinates: [1, 2] }))
  t.match(geoJson, /^coordinates cannot be kept, .*: kept are type, rings, spatialReference$/)
  t.ok(parseGuid('00000000-0000-0000-0000-000000000001'))
})

t.test('signs of WKT that stand in the wrong place are shown, and nothing else', async (t) => {
  const texts: readonly [text: string, message: RegExp][] = [
    ['POINT(-95.5, 29.6)', /^wkt must have a number, not ",": .* \(character 12\)$/],
    ['POLYGON(-95.5 29.6)', /^wkt must have "\(" \(character 9\)$/],
    ['POINT((1 2))', /^wkt must have a number, not "\(" \(character 7\)$/],
    ['POINT(1', /^wkt must have a number, but ends \(character 8\)$/],
    ['POINT(one 2)', /^wkt must have a number \(character 7\)$/],
  ]
  for (const [text, message] of texts)
    t.match(
      messageOf(() => readWkt(text, 'wkt')),
      message,
    )
})

t.test('a body that is no JSON is told what it looks like', async (t) => {
  const bodies: readonly [body: string, advice: RegExp][] = [
    ["{'countsOnly': True}", /double quotes/],
    ['[object Object]', /JSON\.stringify/],
    ['{"countsOnly":true,}', /a comma stands before the end/],
    ['{"geoJSON":{"type":"Point","coordinates":[NaN,2]}}', /NaN/],
    ['POINT(1 2)', /WKT is in the member wkt/],
    ['[{"countsOnly":true}]', /\/json\/reply\/\{Operation\}\[\]/],
    ['"{}"', /written twice/],
  ]
  for (const [body, advice] of bodies) {
    t.match(
      messageOf(() => parse(Buffer.from(body))),
      advice,
      body,
    )
  }
  const started = performance.now()
  t.match(
    messageOf(() => parse(Buffer.alloc(1_000_000, '{"a":1, '))),
    /deeper/,
  )
  t.match(
    messageOf(() => parse(Buffer.from(`{${' ,'.repeat(200_000)}`))),
    /not JSON/,
  )
  t.ok(performance.now() - started < 5_000, 'and a long one costs little')
})

t.test('a ZIP is told to be one', async (t) => {
  const zip = Buffer.from('504b0304140000000800ff00fe', 'hex')
  const parts = Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'),
    zip,
    Buffer.from('\r\n--b--\r\n'),
  ])
  const bodies: readonly [type: string, body: Buffer][] = [
    ['', zip],
    ['application/json', zip],
    ['application/zip', zip],
    ['application/x-www-form-urlencoded', zip],
    ['multipart/form-data; boundary=b', parts],
  ]
  for (const [type, body] of bodies) {
    const [mediaType] = type.split(';')
    const request = { mediaType, header: () => type } as never as HttpRequest
    const message = messageOf(() => readContent(request, body, 'RecipientRequest'))
    t.match(message, /a ZIP: a KMZ is sent .*google-earth\.kmz; a shapefile .*areas import/, type)
  }
  t.equal(
    messageOf(() => parse(Buffer.of(0x7b, 0xff))),
    'the body is not UTF-8',
  )
})

t.test('a path that is nearly one is told which, and is not repeated', async (t) => {
  const near: readonly [path: string, likely: string][] = [
    ['/recipients', '/api/recipients'],
    ['/api/recipient', '/api/recipients'],
    ['/API/v1/Recipients.csv', '/api/recipients'],
    ['/api/audience/1', '/api/audiences or /api/audiences/{Id}'],
    ['/api/sources/1', '/api/sources or /api/sources/{Id}/changes'],
    ['/health', '/livez or /readyz'],
    ['/swagger.json', '/openapi.json'],
  ]
  for (const [path, likely] of near) {
    const fault = nothingAt(path)
    t.match(fault, { code: 'NotFound', status: 404 })
    const message = `there is nothing at this path: do you mean ${likely}? ${LISTED}`
    t.equal(fault.message, message, path)
  }
  for (const path of ['/api', '/', '/+99915550001', `/${'a'.repeat(8_000)}`, '/'.repeat(8_000)]) {
    t.equal(nothingAt(path).message, `there is nothing at this path: ${LISTED}`)
  }
})

const LISTED = 'GET /metadata lists the operations'

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (fault) {
    if (fault instanceof ServiceError) return fault.message
    throw fault
  }
  return 'nothing is wrong'
}
