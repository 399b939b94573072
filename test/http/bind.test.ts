/**
 * Members from bodies, queries and headers: bodies that are one drawing, and the header Idempotency-Key.
 *
 * @module
 */
import t from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { bindByName, bindOnPath } from '../../src/http/bind.js'
import { readContent } from '../../src/http/read-body.js'
import type { HttpRequest } from '../../src/http/request.js'
import { type OperationName, operations } from '../../src/interface/operations.js'

const point = '{"type":"Point","coordinates":[1,2]}'
const kml = '<kml><Placemark><Point><coordinates>1,2</coordinates></Point></Placemark></kml>'

function bound(
  mediaType: string,
  body: string | Buffer,
  query: Record<string, string> = {},
  name: OperationName = 'RecipientRequest',
) {
  const request = {
    mediaType,
    header: () => undefined,
    parameters: {},
    query: new Map(Object.entries(query)),
  } as never as HttpRequest
  return [bindOnPath, bindByName].map((bind) =>
    bind(request, operations[name], readContent(request, Buffer.from(body), name)),
  )
}

t.test('the media type says which member a body is, or the first element of XML', async (t) => {
  const cases: [mediaType: string, body: string | Buffer, member: string][] = [
    ['application/geo+json', point, 'geoJSON'],
    ['application/topo+json', '{"type":"Topology"}', 'topoJSON'],
    ['application/cap+xml', '<alert/>', 'cap'],
    ['application/vnd.google-earth.kml+xml', kml, 'kml'],
    ['application/vnd.google-earth.kmz', kml, 'kml'],
    ['application/gpx+xml', '<gpx/>', 'gpx'],
    [
      'application/xml',
      '\ufeff<?xml version="1.0"?>\n<!-- <gpx> --><cap:alert xmlns:cap="a">',
      'cap',
    ],
    ['text/xml', '<?xml version="1.0"?><?pi a="<gpx>"?><kml>', 'kml'],
    [
      'text/xml',
      Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><gpx/>', 'utf16le'),
      'gpx',
    ],
  ]
  for (const [mediaType, body, member] of cases) {
    for (const members of bound(mediaType, body, { countsOnly: 'true' })) {
      t.same(Object.keys(members).sort(), [member, 'countsOnly'].sort(), `${mediaType}: ${member}`)
    }
    for (const name of ['OutlineRequest', 'PostAudienceRequest', 'GridRequest'] as const) {
      t.ok(member in bound(mediaType, body, {}, name)[0], `${name} takes ${mediaType}`)
    }
  }
})

t.test('what is no drawing, or is for an operation without drawings, is refused', async (t) => {
  const refused = (read: () => unknown) => {
    try {
      read()
    } catch (fault) {
      return (fault as ServiceError).message
    }
    return ''
  }
  t.match(
    refused(() => bound('application/xml', '<html/>')),
    /XML or HTML/,
  )
  t.match(
    refused(() => bound('application/cap+xml', '<alert/>', {}, 'PostChangesRequest')),
    /XML or HTML/,
  )
  for (const name of ['geoJSON', 'GEOJSON']) {
    t.match(
      refused(() => bound('application/geo+json', point, { [name]: point })),
      `${name} is in the query, and the body is one as well`,
    )
  }
  t.equal(
    refused(() => bound('application/geo+json', point, { kml })),
    '',
    'their union is meant',
  )
})

/** The members of a request with this header. */
function boundWith(sent: string | undefined, members: object = {}, name = 'PostChangesRequest') {
  const request = { header: () => sent, query: new Map() } as unknown as HttpRequest
  return bindByName(request, operations[name as OperationName], {
    kind: 'members',
    members: { ...members },
  })
}

t.test('the header has the key in quotes, or bare', async (t) => {
  t.same(boundWith('"8e03978e-40d5"'), { batchId: '8e03978e-40d5' })
  t.same(boundWith('8e03978e-40d5'), { batchId: '8e03978e-40d5' })
  t.same(boundWith('"a, b"'), { batchId: 'a, b' })
  t.same(boundWith(String.raw`"a\"b\\c"`), { batchId: String.raw`a"b\c` })
  t.same(boundWith(undefined, { batchId: 'a' }), { batchId: 'a' })
})

t.test('a member that says the same may be there, too', async (t) => {
  t.same(boundWith('"7"', { BATCHID: 7 }), { BATCHID: 7 })
  t.same(boundWith('"7"', { batchId: null, a: 1 }), { batchId: '7', a: 1 })
  t.throws(() => boundWith('"7"', { BatchId: '8' }), { code: 'InvalidRequest', field: 'batchId' })
})

t.test('what is no key is refused', async (t) => {
  for (const sent of ['', '""', '"a', 'a"', '"a", "b"', 'a, b', '"a\\b"', '"é"', '"a\tb"']) {
    t.throws(() => boundWith(sent), { code: 'InvalidRequest', field: 'Idempotency-Key' }, sent)
  }
})

t.test('other operations do not know of it', async (t) => {
  t.same(boundWith('"', {}, 'PutSuppressionsRequest'), {})
})
