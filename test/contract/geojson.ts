/**
 * Answers in GeoJSON: recipients as Points, areas and outlines as polygons, all of them read as a map
 * library reads them.
 *
 * @module
 */
import type { Test } from 'tap'
import { request } from '../http/wire.js'
import { type ReadCollection, readGeoJson, readPoints } from '../support/read-geojson.js'
import { CONTEXT_ID, SQUARE } from './wire-world.js'

export function testGeoJson(t: Test, url: string): void {
  const port = Number(new URL(url).port)

  const everybody = JSON.stringify({ geoJSON: { xmin: -180, ymin: -90, xmax: 180, ymax: 90 } })
  const square = JSON.stringify({ geoJSON: { type: 'Polygon', coordinates: [SQUARE] } })
  const counts = (text: string) => JSON.stringify({ ...JSON.parse(text), countsOnly: true })

  async function ask(line: string, body?: string, headers: readonly string[] = []) {
    const sent = { headers: [...headers], ...(body !== undefined && { body }) }
    const answer = await request(port, line, sent)
    return { ...answer, text: String(answer.body) }
  }

  async function read(line: string, body?: string, headers?: string[]): Promise<ReadCollection> {
    const answer = await ask(line, body, headers)
    t.equal(answer.status, 200, answer.text)
    t.equal(answer.headers['content-type'], 'application/geo+json')
    return readGeoJson(answer.text)
  }

  t.test('recipients are Points, the longitude first, behind the source records', async (t) => {
    const { text, headers } = await ask('POST /api/recipients.geojson', square)
    t.equal(
      text,
      '{"type":"FeatureCollection","SourceRecords":[' +
        '{"SourceId":1,"Label":"Landline","Count":2,"Status":"Ok"},' +
        '{"SourceId":2,"Label":"a \\"q\\", b","Count":0,"Status":"Ok"},' +
        '{"SourceId":3,"Label":"=1+1","Count":1,"Status":"Ok"}],"features":[' +
        '{"type":"Feature","properties":{"SourceId":1,"Number":"+99912345678"},' +
        '"geometry":{"type":"Point","coordinates":[10.75,59.91]}},' +
        '{"type":"Feature","properties":{"SourceId":1,"Number":"+999 22,33"},' +
        '"geometry":{"type":"Point","coordinates":[10.25,59.5]}},' +
        '{"type":"Feature","properties":{"SourceId":3,"Number":"+99930000001"},' +
        '"geometry":{"type":"Point","coordinates":[10.5,59.25]}}]}',
    )
    t.equal(headers['content-type'], 'application/geo+json')
    t.equal(headers['content-length'], String(Buffer.byteLength(text)))
    t.equal(headers['cache-control'], 'no-store')
    t.ok(headers['x-snapshot'])
    t.notOk('content-disposition' in headers)
  })

  t.test('suffix, query and Accept ask for it, on every path', async (t) => {
    const expected = await read('POST /api/recipients.geojson', everybody)
    t.same(readPoints(expected), [
      [1, '+99912345678', [10.75, 59.91]],
      [1, '+999 22,33', [10.25, 59.5]],
      [2, '+99920000001', [2, -1.5]],
      [3, '+99930000001', [10.5, 59.25]],
    ])
    const query = 'geoJSON={xmin:-180,ymin:-90,xmax:180,ymax:90}'
    t.same(await read('POST /api/recipients?format=geojson', everybody), expected)
    t.same(await read('POST /json/reply/RecipientRequest?FORMAT=GeoJSON', everybody), expected)
    t.same(await read(`GET /api/RecipientRequest.geojson?${query}`), expected)
    for (const accept of ['application/geo+json', 'text/html, application/vnd.geo+json']) {
      t.same(await read('POST /api/recipients', everybody, [`Accept: ${accept}`]), expected)
    }
    const both = ['Accept: application/geo+json, application/json']
    const answer = await ask('POST /api/recipients', everybody, both)
    t.match(answer.headers['content-type'], /^application\/json/, 'JSON is preferred')
  })

  t.test('counts are a collection without features', async (t) => {
    const { features, SourceRecords, ...rest } = await read(
      'POST /api/recipients.geojson',
      counts(square),
    )
    const json = JSON.parse((await ask('POST /api/recipients', counts(square))).text)
    t.same(features, [])
    t.same(SourceRecords, json.SourceRecords)
    t.same(rest, { type: 'FeatureCollection' })
  })

  t.test('a source without recipients before others costs no comma', async (t) => {
    for (const sources of [[2], [2, 3], [1, 2], [1, 3], []]) {
      const body = JSON.stringify({ ...JSON.parse(square), sources })
      const found = readPoints(await read('POST /api/recipients.geojson', body))
      t.same(
        found.map(([source]) => source),
        [1, 1, 3].filter((source) => sources.includes(source)),
      )
    }
  })

  t.test('pages together are the list, and HEAD tells the length of each', async (t) => {
    const list = readPoints(await read('POST /api/recipients.geojson', everybody))
    const pages: typeof list = []
    let after: string | undefined
    do {
      const body = JSON.stringify({ ...JSON.parse(everybody), limit: 1, after })
      const page = await ask('POST /api/recipients.geojson', body)
      t.equal(page.headers['content-length'], String(page.body.length))
      pages.push(...readPoints(readGeoJson(page.text)))
      after = page.headers['x-next-after']
    } while (after !== undefined)
    t.same(pages, list)
  })

  t.test('a script may hold it', async (t) => {
    const { text, headers } = await ask(
      'POST /api/recipients?format=geojson&callback=cb',
      everybody,
    )
    t.equal(headers['content-type'], 'text/javascript')
    const [, collection] = /^cb\((.*)\)$/.exec(text) ?? []
    t.equal(readPoints(readGeoJson(collection)).length, 4)
  })

  t.test('a batch is a list of collections, which is JSON', async (t) => {
    const body = `[${square},${counts(square)}]`
    const { text, headers } = await ask('POST /json/reply/RecipientRequest[]?format=geojson', body)
    t.match(headers['content-type'], /^application\/json/)
    const [list, none, ...others] = JSON.parse(text)
    t.equal(readPoints(readGeoJson(JSON.stringify(list))).length, 3)
    t.same(readGeoJson(JSON.stringify(none)).features, [])
    t.same(others, [])
  })

  t.test('errors are JSON', async (t) => {
    const body = JSON.stringify({ geoJSON: { type: 'Polygon', coordinates: [[[0, 95]]] } })
    const { status, headers, text } = await ask('POST /api/recipients.geojson', body)
    t.equal(status, 400)
    t.match(headers['content-type'], /^application\/json/)
    t.equal(JSON.parse(text).ResponseStatus.ErrorCode, 'LatitudeOutOfRange')
  })

  t.test('areas of a context are features, with who is inside', async (t) => {
    const path = `/api/contexts/${CONTEXT_ID}`
    const { features, ...rest } = await read(`GET ${path}.geojson`)
    t.same(rest, { type: 'FeatureCollection', Id: CONTEXT_ID, ContextName: 'ctx' })
    t.equal(features.length, 2)
    t.match(features[0], {
      id: 'a1',
      properties: {
        Id: 'a1',
        Name: 'North, side',
        ContactTotalCount: 3,
        HasInvalidShapeError: false,
      },
      geometry: { type: 'Polygon' },
    })
    t.notOk('Geometry' in (features[0].properties ?? {}))
    t.same(sorted(features[0].geometry), [[[...SQUARE]].map(distinct)])
    t.match(features[1], { id: 'a2', properties: { HasInvalidShapeError: true }, geometry: null })

    const whole = await ask(`GET ${path}?format=geojson`)
    t.equal(whole.headers['content-length'], String(whole.body.length))
    const head = await ask(`HEAD ${path}?format=geojson`)
    t.equal(head.headers['content-length'], String(whole.body.length))
    const tag = whole.headers.etag
    t.not(tag, (await ask(`GET ${path}`)).headers.etag)
    const again = await ask(`GET ${path}?format=geojson`, undefined, [`If-None-Match: ${tag}`])
    t.equal(again.status, 304)
  })

  t.test(
    'rings of Esri become polygons with holes, in degrees, cut at the antimeridian',
    async (t) => {
      const box = (x: number, y: number, size: number) => [
        [x, y],
        [x, y + size],
        [x + size, y + size],
        [x + size, y],
        [x, y],
      ]
      const halfWorld = Math.PI * 6_378_137
      const area = (rings: number[][][], wkid: number) => ({
        Geometry: { type: 'polygon', rings, spatialReference: { wkid } },
      })
      const context = {
        ContextName: 'rings',
        Areas: [
          area([box(0, 0, 9), box(1, 1, 7), box(2, 2, 2), box(5, 5, 2)], 4326),
          area([[...box(0, 0, halfWorld / 18)].reverse()], 102100),
          area([box(175, -5, 10)], 4326),
          { Name: 'nowhere' },
        ],
      }
      const { features } = await read('POST /api/contexts?format=geojson', JSON.stringify(context))
      const shapes = features.map(({ geometry }) => sorted(geometry))
      t.same(shapes[0], [
        [distinct(box(0, 0, 9)), distinct(box(1, 1, 7))],
        [distinct(box(2, 2, 2))],
        [distinct(box(5, 5, 2))],
      ])
      const [[[, , , [lng, lat]]]] = shapes[1]
      t.same([lng, lat.toFixed(4)], [10, '9.9496'], 'metres')
      t.equal(shapes[2].length, 2, 'one part on each side')
      t.same(shapes[3], [], 'an area without a shape')
    },
  )

  t.test('contexts and layers of areas are collections of OGC API - Features', async (t) => {
    const { collections } = JSON.parse((await ask('GET /ogc/collections')).text)
    const ids = collections.map(({ id }: { id: string }) => id)
    for (const id of [CONTEXT_ID, 'areas-counties']) t.ok(ids.includes(id), id)
    const { features } = await read(`GET /ogc/collections/${CONTEXT_ID}/items`)
    t.equal(features[0].properties?.ContactTotalCount, 3)
  })

  t.test('outlines are features; shapes that could not be united have none', async (t) => {
    const { features, ...about } = await read('POST /api/outline?format=geojson', square)
    t.match(about, { IsDissolved: true, HasShapesWithoutArea: false })
    t.same(
      features.map(({ properties }) => properties),
      [{ SourceIds: [1, 2, 3] }],
    )
    t.same(sorted(features[0].geometry), [[distinct(SQUARE)]])
  })

  t.test('what has no shapes has no GeoJSON, and nothing is written', async (t) => {
    const before = await ask('GET /api/configuration')
    const lines = [
      'GET /api/configuration.geojson',
      'POST /api/configuration?format=geojson',
      'GET /api/contexts?format=geojson',
      'GET /api/suppressions?format=geojson',
      'PUT /api/suppressions?format=geojson',
      'POST /json/reply/GetMapConfigurationRequest[]?format=geojson',
    ]
    for (const line of lines) {
      const { status, headers, text } = await ask(line, line.startsWith('GET') ? undefined : '{}')
      t.equal(status, 406, line)
      t.match(headers['content-type'], /^application\/json/)
      t.match(JSON.parse(text).ResponseStatus, {
        ErrorCode: 'NotAcceptable',
        Errors: [{ FieldName: 'format' }],
      })
    }
    const accepting = await ask('GET /api/configuration', undefined, [
      'Accept: application/geo+json',
    ])
    t.equal(accepting.status, 406)
    const form = 'x-http-method-override=PUT&List=a&Numbers=%2B9991'
    const type = 'Content-Type: application/x-www-form-urlencoded'
    t.equal((await ask('POST /api/suppressions?format=geojson', form, [type])).status, 406)
    t.equal((await ask('GET /api/configuration')).text, before.text)
    t.match((await ask('GET /api/suppressions')).text, /"Lists":\[\]/)
    t.equal((await ask(`DELETE /api/contexts/${'0'.repeat(31)}1?format=geojson`)).status, 404)
  })

  t.test(
    'a format that nobody knows is refused, and the message names those that are',
    async (t) => {
      for (const query of [
        'format=xml',
        'format=geo+json',
        'Format=geoJSONP',
        'callback=cb&format=x',
      ]) {
        const { status, text } = await ask(`POST /api/recipients?${query}`, square)
        t.equal(status, 400, query)
        t.match(JSON.parse(text).ResponseStatus, {
          ErrorCode: 'InvalidRequest',
          Message: 'format must be json, csv, ndjson or geojson',
          Errors: [{ FieldName: 'format' }],
        })
      }
    },
  )
}

/** The vertices of each ring in one order, without the repeated one: where a ring begins says nothing. */
function sorted(geometry: ReadCollection['features'][number]['geometry'] | null): number[][][][] {
  if (geometry === null) return []
  if (geometry.type === 'Polygon') return [geometry.coordinates.map(distinct)]
  if (geometry.type === 'MultiPolygon')
    return geometry.coordinates.map((each) => each.map(distinct))
  throw new Error(`a ${geometry.type}`)
}

function distinct(ring: readonly (readonly number[])[]): number[][] {
  const order = (a: readonly number[], b: readonly number[]) => a[0] - b[0] || a[1] - b[1]
  return ring
    .slice(1)
    .map((position) => [...position])
    .sort(order)
}
