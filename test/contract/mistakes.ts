/**
 * Requests with mistakes, and bodies that are drawings alone, over HTTP.
 *
 * @module
 */
import type { Test } from 'tap'
import { SQUARE } from './wire-world.js'

export function testMistakes(t: Test, url: string): void {
  const square = { type: 'Polygon', coordinates: [SQUARE] }
  const far = { type: 'Polygon', coordinates: [SQUARE.map(([lng, lat]) => [lat, lng])] }
  const feature = { type: 'Feature', geometry: square, properties: { name: 'mine' } }
  const JSON_TYPE = 'application/json'
  const GEOJSON_TYPE = 'application/geo+json'
  /** What curl says of any body. */
  const FORM_TYPE = 'application/x-www-form-urlencoded'

  async function post(path: string, body: unknown, type = JSON_TYPE) {
    const headers = { 'Content-Type': type }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(url + path, { method: 'POST', headers, body: text })
    const answer = await response.text()
    const isJson = /^application\/(geo\+)?json/.test(response.headers.get('content-type') ?? '')
    return { response, text: answer, json: isJson ? JSON.parse(answer) : undefined }
  }

  t.test('a drawing alone is the member geoJSON, on all paths', async (t) => {
    const expected = await post('/api/recipients', { geoJSON: square })
    t.equal(expected.json.SourceRecords[0].Count, 2)
    for (const drawing of [square, feature, { type: 'FeatureCollection', features: [feature] }]) {
      for (const type of [JSON_TYPE, GEOJSON_TYPE, 'text/plain', FORM_TYPE]) {
        for (const path of [
          '/api/recipients',
          '/json/reply/RecipientRequest',
          '/api/data/Geometry',
        ]) {
          t.equal((await post(path, drawing, type)).text, expected.text, `${path} ${type}`)
        }
      }
      const outline = await post('/api/outline', { geoJSON: square })
      for (const type of [JSON_TYPE, FORM_TYPE]) {
        t.equal((await post('/api/outline', drawing, type)).text, outline.text, type)
      }
    }
    const counted = await post('/api/recipients?countsOnly=true', feature, GEOJSON_TYPE)
    t.same(
      counted.json,
      (await post('/api/recipients', { geoJSON: square, countsOnly: true })).json,
    )
    const batch = await post('/json/reply/RecipientRequest%5B%5D', [square, { geoJSON: square }])
    t.same(batch.json[0], batch.json[1])
  })

  t.test('with application/geo+json a body is a drawing, whatever it looks like', async (t) => {
    const untyped = { features: [{ geometry: square }] }
    t.equal((await post('/api/recipients', untyped, GEOJSON_TYPE)).json.SourceRecords[0].Count, 2)
    t.match((await post('/api/recipients', untyped)).json, errorOf('UnknownMember', 'features'))
    t.equal((await post('/api/recipients', { geoJSON: square }, GEOJSON_TYPE)).response.status, 400)
  })

  t.test('members beside a drawing are refused', async (t) => {
    const { json } = await post('/api/recipients', { ...square, countsOnly: true })
    t.match(json, errorOf('UnknownMember', 'geoJSON.countsOnly'))
    const both = await post('/api/recipients', { ...square, geoJSON: square })
    t.equal(both.response.status, 400)
  })

  t.test('unknown members are refused by every operation, in body, query and form', async (t) => {
    for (const [path, body, type, field] of [
      ['/api/recipients', { countOnly: true }, JSON_TYPE, 'countOnly'],
      ['/api/recipients?countOnly=true', {}, JSON_TYPE, 'countOnly'],
      ['/api/recipients', 'countOnly=true', FORM_TYPE, 'countOnly'],
      ['/api/outline', { geo_json: square }, JSON_TYPE, 'geo_json'],
      ['/api/configuration', { MapDvi: 'x' }, JSON_TYPE, 'MapDvi'],
      ['/api/contexts', { Areas: [{ Nmae: 'x' }] }, JSON_TYPE, 'Areas[0].Nmae'],
      ['/json/reply/GetMapContextsRequest', { skipp: 1 }, JSON_TYPE, 'skipp'],
      ['/json/reply/GetMapConfigurationRequest', { MapDvi: 1 }, JSON_TYPE, 'MapDvi'],
      ['/json/reply/GetSuppressionsRequest', { Sourceid1: 1 }, JSON_TYPE, 'Sourceid1'],
    ] as const) {
      const { response, json } = await post(path, body, type)
      t.equal(response.status, 400, path)
      t.match(json, errorOf('UnknownMember', field), path)
    }
  })

  t.test('warnings are in the header of every format', async (t) => {
    const request = { geoJSON: far, countsOnly: true }
    for (const format of ['json', 'csv', 'ndjson', 'geojson']) {
      const { response, json } = await post(`/api/recipients?format=${format}`, request)
      const header = response.headers.get('x-warnings') ?? '[]'
      t.match(JSON.parse(header), [{ Code: 'NobodyNear', Message: /exchanged/, Path: 'geoJSON' }])
      if (format !== 'csv' && format !== 'ndjson') t.same(json.Warnings, JSON.parse(header), format)
    }
    const outline = await post('/api/outline', { geoJSON: far })
    t.match(outline.json.Warnings, [{ Code: 'NobodyNear' }])
    const fine = await post('/api/recipients', { geoJSON: square })
    t.equal(fine.response.headers.get('x-warnings'), null)
    t.notOk('Warnings' in fine.json)
  })

  t.test('those of a batch say of which request they are', async (t) => {
    const path = '/csv/reply/RecipientRequest%5B%5D'
    const { response } = await post(path, [{ geoJSON: square }, { geoJSON: far }, { geoJSON: far }])
    t.match(JSON.parse(response.headers.get('x-warnings') ?? ''), [
      { Path: '[1].geoJSON' },
      { Path: '[2].geoJSON' },
    ])
  })

  t.test('the next cursor is in the body of a page', async (t) => {
    const { response, json } = await post('/api/recipients', { geoJSON: square, limit: 1 })
    t.equal(json.NextAfter, response.headers.get('x-next-after'))
    const next = { geoJSON: square, limit: 1, after: json.NextAfter }
    t.equal((await post('/api/recipients', next)).response.status, 200)
  })

  t.test('a context says which of its areas are nowhere', async (t) => {
    const rings = [SQUARE.map(([lng, lat]) => [lat, lng])]
    const context = { ContextName: 'x', Areas: [{ Name: 'a' }, { Geometry: { rings } }] }
    const posted = await post('/api/contexts', context)
    const expected = [
      { Code: 'NoGeometry', Path: 'Areas[0]' },
      { Code: 'NobodyNear', Path: 'Areas[1].Geometry' },
    ]
    t.match(posted.json.Warnings, expected)
    // What was answered can be sent back.
    const put = await fetch(`${url}/api/contexts`, {
      method: 'PUT',
      body: JSON.stringify(posted.json),
    })
    t.equal(put.status, 200)
    t.same(await put.json(), posted.json)
  })
}

function errorOf(code: string, field: string) {
  return { ResponseStatus: { ErrorCode: code, Errors: [{ FieldName: field }] } }
}
