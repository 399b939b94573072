/**
 * The requirements of OGC API - Features, Part 1: Core (OGC 17-069r4), each requested: a test has the name of its
 * requirement. docs/api/ogc-features.md lists the same names.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { limits } from '../../../src/limits.js'
import { DISTRICTS, EMPTY, OTHER_AREAS, OTHERS, SQUARES } from './areas.js'
import { serveAreasHere } from './areas-here.js'
import { testNamedAreas } from './named-areas.js'

const CONFORMANCE = ['core', 'oas30', 'geojson'].map(
  (name) => `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/${name}`,
)
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const GEOJSON = 'application/geo+json'

interface Link {
  href: string
  rel: string
  type?: string
  title?: string
}

// biome-ignore lint/suspicious/noExplicitAny: documents as they come
type Json = any

const url = await serveAreasHere(t)
const root = `${url}/ogc`
const names: string[] = []

async function get(path: string): Promise<{ status: number; type: string; body: Json }> {
  const response = await fetch(path.startsWith('http') ? path : root + path)
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  return { status: response.status, type, body: text === '' ? undefined : JSON.parse(text) }
}

const items = (query = '', id = OTHERS) => get(`/collections/${id}/items${query}`)
const idsOf = ({ body }: { body: Json }) => body.features.map(({ id }: { id: string }) => id)
const linkOf = ({ links }: { links: Link[] }, rel: string) => links.find((each) => each.rel === rel)

function requirement(name: string, test: (t: Test) => Promise<void>): void {
  names.push(name)
  t.test(`/req/${name}`, test)
}

requirement('core/root-op', async (t) => {
  t.equal((await get('')).status, 200)
  const head = await fetch(root, { method: 'HEAD' })
  t.equal(head.status, 200)
})

requirement('core/root-success', async (t) => {
  const { type, body } = await get('')
  t.match(type, /^application\/json/)
  for (const rel of ['self', 'service-desc', 'conformance', 'data']) t.ok(linkOf(body, rel), rel)
  t.equal(linkOf(body, 'data')?.href, `${root}/collections`)
})

requirement('core/api-definition-op', async (t) => {
  const href = linkOf((await get('')).body, 'service-desc')?.href ?? ''
  t.equal((await get(href)).status, 200)
})

requirement('core/api-definition-success', async (t) => {
  const link = linkOf((await get('')).body, 'service-desc')
  const { type, body } = await get(link?.href ?? '')
  t.equal(type, link?.type)
  t.match(body.openapi, /^3\.0\./)
})

requirement('core/conformance-op', async (t) => {
  t.equal((await get('/conformance')).status, 200)
})

requirement('core/conformance-success', async (t) => {
  t.same((await get('/conformance')).body, { conformsTo: CONFORMANCE })
})

requirement('core/http', async (t) => {
  t.equal((await fetch(`${root}/collections`, { method: 'HEAD' })).status, 200)
  const posted = await fetch(`${root}/collections`, { method: 'POST', body: '{}' })
  t.equal(posted.status, 405)
  t.equal(posted.headers.get('allow'), 'GET, HEAD')
  t.equal((await get('/nothing')).status, 404)
})

requirement('core/query-param-unknown', async (t) => {
  const paths = ['', '/conformance', '/api', '/collections', `/collections/${OTHERS}`]
  for (const path of [...paths, `/collections/${OTHERS}/items`, feature('triangle')]) {
    const { status, body } = await get(`${path}?unknown=1`)
    t.equal(status, 400, path)
    t.equal(body.ResponseStatus.ErrorCode, 'InvalidRequest')
    t.notMatch(JSON.stringify(body), /unknown/, 'names are not repeated')
  }
})

requirement('core/query-param-invalid', async (t) => {
  const bad = [
    ...['limit=0', 'limit=-1', 'limit=ten', 'limit=1.5', 'limit=', 'limit=1&limit=2'],
    ...['offset=-1', 'offset=x', 'bbox=1,2,3', 'bbox=1,2,3,4,5', 'bbox=1,2,3,4,5,6,7', 'bbox='],
    ...['bbox=a,b,c,d', 'bbox=,,,', 'bbox=0,1,1,0', 'bbox=0,-91,1,0', 'bbox=0,0,181,1'],
    ...['bbox=0,0,5,1,1,4', 'bbox=0,0,1,NaN', 'bbox=0,0,1,Infinity', 'datetime=yesterday'],
    ...['datetime=', 'datetime=../..', 'datetime=/', 'datetime=2026-02-30', 'datetime=2026-13-01'],
    ...['datetime=2026-01-02/2026-01-01', 'datetime=2026-01-01/2026-01-02/2026-01-03'],
    ...['datetime=2026-01-01T25:00:00Z', 'datetime=2026-01-01T00:00:00'],
  ]
  for (const query of bad) t.equal((await items(`?${query}`)).status, 400, query)
})

requirement('core/crs84', async (t) => {
  const { body } = await items('?limit=1', DISTRICTS)
  const ring = body.features[0].geometry.coordinates[0]
  t.same(ring.map(String).slice(1).sort(), ['0,0', '0,0.1', '0.1,0', '0.1,0.1'])
  const { body: other } = await get(feature('a/b?c'))
  const lngs = other.geometry.coordinates[0].map(([lng]: number[]) => lng)
  t.same([Math.min(...lngs), Math.max(...lngs)], [20, 21], 'longitude comes first')
})

requirement('core/fc-md-op', async (t) => {
  t.equal((await get('/collections')).status, 200)
})

requirement('core/fc-md-success', async (t) => {
  const { body, type } = await get('/collections')
  t.match(type, /^application\/json/)
  t.ok(Array.isArray(body.links) && Array.isArray(body.collections))
})

requirement('core/fc-md-links', async (t) => {
  const self = linkOf((await get('/collections')).body, 'self')
  t.same(self, { ...self, href: `${root}/collections`, type: 'application/json' })
})

requirement('core/fc-md-items', async (t) => {
  const { collections } = (await get('/collections')).body
  const ids = collections.map(({ id }: Json) => id)
  for (const id of [DISTRICTS, OTHERS, EMPTY]) t.ok(ids.includes(id), id)
})

requirement('core/fc-md-items-links', async (t) => {
  for (const { id, links } of (await get('/collections')).body.collections) {
    const found = links.filter(({ rel }: Link) => rel === 'items')
    t.same(found, [{ ...found[0], href: `${root}/collections/${id}/items`, type: GEOJSON }])
  }
})

requirement('core/fc-md-extent', async (t) => {
  const { body } = await get(`/collections/${DISTRICTS}`)
  t.same(body.extent, { spatial: { bbox: [[0, 0, 2.5, 2.5]], crs: CRS84 } })
  t.notOk('extent' in (await get(`/collections/${EMPTY}`)).body)
})

requirement('core/sfc-md-op', async (t) => {
  for (const { id } of (await get('/collections')).body.collections) {
    t.equal((await get(`/collections/${id}`)).status, 200)
  }
  t.equal((await get(`/collections/${'d'.repeat(32)}`)).status, 404)
  t.equal((await get('/collections/none')).status, 404)
})

requirement('core/sfc-md-success', async (t) => {
  for (const listed of (await get('/collections')).body.collections) {
    t.same((await get(`/collections/${listed.id}`)).body, listed)
  }
})

requirement('core/fc-op', async (t) => {
  for (const { links } of (await get('/collections')).body.collections) {
    t.equal((await get(linkOf({ links }, 'items')?.href ?? '')).status, 200)
  }
})

requirement('core/fc-limit-definition', async (t) => {
  t.same(parameter(await definition(), 'limit').schema, {
    type: 'integer',
    minimum: 1,
    maximum: limits.featurePageCount,
    default: 10,
  })
})

requirement('core/fc-limit-response-1', async (t) => {
  t.equal((await items('', DISTRICTS)).body.features.length, 10)
  t.equal((await items('?limit=1', DISTRICTS)).body.features.length, 1)
  t.equal((await items(`?limit=${limits.featurePageCount}`, DISTRICTS)).body.features.length, 25)
  // More than the most is the most.
  t.equal((await items(`?limit=${limits.featurePageCount + 1}`, DISTRICTS)).status, 200)
})

requirement('core/fc-bbox-definition', async (t) => {
  const { schema, style, explode } = parameter(await definition(), 'bbox')
  t.same(
    { type: schema.type, items: schema.items, style, explode },
    {
      type: 'array',
      items: { type: 'number' },
      style: 'form',
      explode: false,
    },
  )
})

requirement('core/fc-bbox-response', async (t) => {
  // The service gives an area an id.
  const unnamed = idsOf(await items())[3]
  t.match(unnamed, /^[\da-f]{32}$/)
  const boxes: [box: string, ids: string[]][] = [
    ['0,0,1,1', ['triangle']],
    // In the bounds of the triangle, and not in it: the longest side runs from 0,10 to 10,0.
    ['6,6,9,9', []],
    ['5,5,9,9', ['triangle']],
    ['5.0000001,5,9,9', []],
    ['10,0,10,0', ['triangle']],
    ['1,1,1,1', ['triangle']],
    // Over the antimeridian, by either writing.
    ['179.5,0,-179.5,1', ['seam']],
    ['170,0,180,1', ['seam']],
    ['-180,0,-179,1', ['seam']],
    ['-178.9,0,178.9,1', ['triangle']],
    ['179.2,0.2,179.3,0.3', ['seam']],
    ['20.2,30.2,20.3,30.3', ['a/b?c']],
    ['-180,-90,180,90', ['triangle', 'seam', 'a/b?c', unnamed]],
    ['20.2,30.2,-50,20.3,30.3,50', ['a/b?c']],
    ['50,50,60,60', []],
  ]
  for (const [box, ids] of boxes) {
    // What has no place matches every box.
    const found = await items(`?bbox=${box}`)
    t.same(idsOf(found), [...ids, 'nowhere'], box)
    t.equal(found.body.numberMatched, ids.length + 1)
  }
})

requirement('core/fc-time-definition', async (t) => {
  const { schema, style, explode, required } = parameter(await definition(), 'datetime')
  const expected = { type: 'string', style: 'form', explode: false, required: false }
  t.same({ type: schema.type, style, explode, required }, expected)
})

requirement('core/fc-time-response', async (t) => {
  const times = [
    ...['2026-01-31', '2026-01-31T08:15:00Z', '2026-01-31T08:15:00.5%2B02:00'],
    ...[
      '2026-01-01T00:00:00Z/2026-01-31T00:00:00Z',
      '../2026-01-31',
      '2026-01-31/..',
      '/2026-01-31',
    ],
  ]
  for (const time of times) {
    // Areas have no time, and what has none is there at any.
    t.same(idsOf(await items(`?datetime=${time}`)), idsOf(await items()), time)
  }
})

requirement('core/fc-response', async (t) => {
  const { status, body } = await items('?limit=100', DISTRICTS)
  t.equal(status, 200)
  t.same(
    body.features.map(({ properties }: Json) => [properties.Name, properties.ContactTotalCount]),
    SQUARES.map(({ Name }, at) => [Name, (at + 1) ** 2]),
    'each with its count',
  )
  t.notMatch(JSON.stringify(body), /\+999/, 'and nobody by name')
})

requirement('core/fc-links', async (t) => {
  const seen: string[] = []
  let page = await items('?limit=7&bbox=0.05,0.05,0.06,0.06', DISTRICTS)
  t.equal(linkOf(page.body, 'prev'), undefined)
  for (;;) {
    seen.push(...idsOf(page))
    const self = await get(linkOf(page.body, 'self')?.href ?? '')
    t.same(idsOf(self), idsOf(page), 'self is the page')
    const next = linkOf(page.body, 'next')
    if (next === undefined) break
    page = await get(next.href)
  }
  t.same(
    seen,
    SQUARES.map(({ Id }) => Id),
    'pages have each feature once',
  )
  t.same(idsOf(await get(linkOf(page.body, 'prev')?.href ?? '')).length, 7)
  t.equal(linkOf((await items('?limit=25', DISTRICTS)).body, 'next'), undefined)
  t.ok(linkOf((await items('?limit=24', DISTRICTS)).body, 'next'))
  t.same(idsOf(await items('?offset=25', DISTRICTS)), [])
})

requirement('core/fc-rel-type', async (t) => {
  for (const { rel, type, href, title } of (await items('?limit=2')).body.links) {
    t.ok(rel && type && title && href.startsWith(root), rel)
  }
})

requirement('core/fc-timeStamp', async (t) => {
  const before = Date.now()
  const { timeStamp } = (await items()).body
  t.ok(Date.parse(timeStamp) >= before && Date.parse(timeStamp) <= Date.now(), timeStamp)
})

requirement('core/fc-numberMatched', async (t) => {
  t.equal((await items('?limit=3', DISTRICTS)).body.numberMatched, 25)
  t.equal((await items('', EMPTY)).body.numberMatched, 0)
})

requirement('core/fc-numberReturned', async (t) => {
  t.equal((await items('?limit=3', DISTRICTS)).body.numberReturned, 3)
  t.equal((await items('?limit=10&offset=20', DISTRICTS)).body.numberReturned, 5)
})

requirement('core/f-op', async (t) => {
  for (const id of idsOf(await items())) {
    t.equal((await get(feature(id))).status, 200, id)
  }
  t.equal((await get(feature('none'))).status, 404)
})

requirement('core/f-success', async (t) => {
  const { body, type } = await get(feature('triangle'))
  t.equal(type, GEOJSON)
  t.equal(body.type, 'Feature')
  t.equal(body.id, 'triangle')
  // On the diagonal are 100, and on the boundary is inside.
  t.equal(body.properties.ContactTotalCount, 5_050)
})

requirement('core/f-links', async (t) => {
  const { body } = await get(feature('a/b?c'))
  t.equal(linkOf(body, 'self')?.href, root + feature('a/b?c'))
  t.equal((await get(linkOf(body, 'self')?.href ?? '')).body.id, 'a/b?c')
  t.equal(linkOf(body, 'collection')?.href, `${root}/collections/${OTHERS}`)
})

requirement('geojson/definition', async (t) => {
  t.equal((await items()).type, GEOJSON)
  t.equal((await get(feature('seam'))).type, GEOJSON)
})

requirement('geojson/content', async (t) => {
  const { body } = await items()
  t.equal(body.type, 'FeatureCollection')
  t.equal(body.features.length, OTHER_AREAS.length)
  for (const each of body.features) {
    t.equal(each.type, 'Feature')
    t.ok(each.geometry === null || /Polygon$/.test(each.geometry.type))
  }
  const seam = body.features.find(({ id }: Json) => id === 'seam')
  t.equal(seam.geometry.type, 'MultiPolygon', 'cut at the antimeridian')
})

requirement('oas30/oas-definition-1', async (t) => {
  const link = linkOf((await get('')).body, 'service-desc')
  t.equal(link?.type, 'application/vnd.oai.openapi+json;version=3.0')
  t.equal((await get(link?.href ?? '')).status, 200)
})

requirement('oas30/oas-definition-2', async (t) => {
  const { openapi, info, paths, servers } = await definition()
  t.match(openapi, /^3\.0\.\d$/)
  t.ok(info.title && info.version)
  t.same(servers, [{ url: root }])
  const operations = Object.values(paths).map((each: Json) => each.get.operationId)
  t.equal(new Set(operations).size, operations.length)
})

requirement('oas30/oas-impl', async (t) => {
  const { paths } = await definition()
  for (const path of Object.keys(paths)) {
    const filled = path.replace('{collectionId}', OTHERS).replace('{featureId}', 'seam')
    t.equal((await get(filled === '/' ? '' : filled)).status, 200, path)
  }
})

requirement('oas30/completeness', async (t) => {
  const { paths } = await definition()
  for (const [path, { get }] of Object.entries<Json>(paths)) {
    t.ok(get.responses[200] && get.responses[400] && get.responses[500], path)
    const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const inPath = (get.parameters ?? []).filter((each: Json) => each.in === 'path')
    t.same(
      inPath.map(({ name }: Json) => name),
      variables,
    )
  }
})

requirement('oas30/exceptions-codes', async (t) => {
  const document = await definition()
  const { responses } = document.paths['/collections/{collectionId}/items'].get
  for (const status of [400, 401, 403, 404, 406, 500, 503]) {
    const name = responses[status].$ref.split('/').at(-1)
    t.ok(document.components.responses[name].description, `${status}`)
  }
})

requirement('oas30/security', async (t) => {
  const { components, security } = await definition()
  const used = security.flatMap((each: object) => Object.keys(each))
  t.same(new Set(used), new Set(Object.keys(components.securitySchemes)))
})

t.test('the same of layers of the gazetteer', async (t) => testNamedAreas(t, url))

t.test('the documentation has the same requirements', async (t) => {
  const page = fileURLToPath(new URL('../../../../docs/api/ogc-features.md', import.meta.url))
  const rows = [...readFileSync(page, 'utf8').matchAll(/^\| `\/req\/([\w/-]+)` \|/gm)]
  t.same(
    rows.map(([, name]) => name),
    names,
  )
})

const feature = (id: string) => `/collections/${OTHERS}/items/${encodeURIComponent(id)}`

async function definition(): Promise<Json> {
  return (await get('/api')).body
}

function parameter({ paths }: Json, name: string): Json {
  const { parameters } = paths['/collections/{collectionId}/items'].get
  return parameters.find((each: Json) => each.name === name)
}
