/**
 * Alerts that are kept, over HTTP.
 *
 * @module
 */
import type { Test } from 'tap'
import { areaOf, geocode } from '../cap/writer.js'
import { alertXml, SENT, type TestAlert } from '../support/data/alerts.js'

export function testAlerts(t: Test, url: string): void {
  const square = (west: number) => ({
    kind: 'polygon' as const,
    ring: [
      [west, 59],
      [west + 1, 59],
      [west + 1, 60],
      [west, 60],
      [west, 59],
    ],
  })

  async function send(
    method: string,
    path: string,
    body?: string | object,
    type = 'application/cap+xml',
  ) {
    const isJson = typeof body === 'object'
    const response = await fetch(url + path, {
      method,
      ...(body !== undefined && {
        body: isJson ? JSON.stringify(body) : body,
        headers: { 'Content-Type': isJson ? 'application/json' : type },
      }),
    })
    const text = await response.text()
    const { status } = response
    return { status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
  }

  const put = (alert: TestAlert, query = '') =>
    send('PUT', `/api/alerts/${encodeURIComponent(alert.identifier)}${query}`, alertXml(alert))

  const errorOf = (ErrorCode: string, FieldName?: string) => ({
    ResponseStatus: { ErrorCode, ...(FieldName && { Errors: [{ FieldName }] }) },
  })

  t.test('an alert, its update and its cancel', async (t) => {
    const first = await put({ identifier: 'a/1', shapes: [square(10)] })
    t.equal(first.status, 200, first.text)
    t.match(first.json, {
      Identifier: 'a/1',
      Sender: 'desk@example.org',
      Sent: SENT,
      Status: 'Actual',
      MsgType: 'Alert',
      ContextName: 'Flood',
      Areas: [{ Id: '1', Name: 'somewhere', ContactTotalCount: 3, Geometry: { type: 'polygon' } }],
    })
    t.notOk('References' in first.json || 'SupersededBy' in first.json || 'Warnings' in first.json)
    t.equal((await put({ identifier: 'a/1', shapes: [square(10)] })).text, first.text, 'again')
    t.equal((await send('GET', '/api/alerts/a%2F1')).text, first.text)
    const context = await send('GET', `/api/contexts/${first.json.ContextId}`)
    t.match(context.json, { Alert: { Identifier: 'a/1' }, Areas: [{ ContactTotalCount: 3 }] })
    t.same(context.json.Areas, first.json.Areas)

    const references = ['a/1', 'unknown']
    const shapes = [{ ...square(10.5) }]
    const update = await put({ identifier: 'a/2', msgType: 'Update', references, shapes })
    t.match(update.json.References, [
      { Identifier: 'a/1', IsKept: true },
      { Identifier: 'unknown', IsKept: false },
    ])
    const changes = await send('GET', '/api/alerts/a%2F2/changes')
    t.match(changes.json, {
      Identifier: 'a/2',
      Since: [{ Identifier: 'a/1' }],
      SourceRecords: [
        { SourceId: 1, NewCount: 0, GoneCount: 1, StayingCount: 1 },
        { SourceId: 2, NewCount: 0, GoneCount: 0, StayingCount: 0 },
        { SourceId: 3, NewCount: 0, GoneCount: 0, StayingCount: 1 },
      ],
      Warnings: [{ Code: 'ReferenceNotKept', Path: 'since' }],
    })
    const csv = await send('GET', '/api/alerts/a%2F2/changes?part=gone&since=a/1&format=csv')
    t.equal(csv.text, 'SourceId,Label,Number,Lat,Lng\r\n1,Landline,"+999 22,33",59.5,10.25\r\n')
    const counted = await send(
      'GET',
      '/api/alerts/a%2F2/changes?part=staying&countsOnly=true&sources=3',
    )
    t.match(counted.json.SourceRecords, [{ SourceId: 3, Count: 1 }])
    t.equal(counted.json.SourceRecords.length, 1)

    const cancel = await put({ identifier: 'a/3', msgType: 'Cancel', references: ['a/1', 'a/2'] })
    t.match(cancel.json, { MsgType: 'Cancel', Areas: [] })
    const gone = await send('GET', '/api/alerts/a%2F3/changes')
    t.same(
      gone.json.Since.map(({ Identifier }: { Identifier: string }) => Identifier),
      ['a/2'],
    )
    t.match(gone.json.SourceRecords[0], { NewCount: 0, GoneCount: 1, StayingCount: 0 })

    const list = await send('GET', '/api/alerts')
    t.match(list.json, { Offset: 0, Total: 3 })
    const summary = list.json.Results.find(
      ({ Identifier }: { Identifier: string }) => Identifier === 'a/1',
    )
    t.same(
      summary.SupersededBy.map(({ Identifier }: { Identifier: string }) => Identifier).sort(),
      ['a/2', 'a/3'],
    )
    t.match((await send('GET', '/api/alerts?Skip=1&Take=1')).json, { Offset: 1, Total: 3 })
    for (const id of ['a%2F1', 'a%2F2', 'a%2F3']) {
      t.equal((await send('DELETE', `/api/alerts/${id}`)).status, 204)
    }
    t.match((await send('GET', '/api/alerts/a%2F1')).json, errorOf('NotFound', 'Identifier'))
    t.equal((await send('GET', '/api/alerts')).json.Total, 0)
  })

  t.test('an alert never changes', async (t) => {
    await put({ identifier: 'b', shapes: [square(10)] })
    const conflict = errorOf('AlertConflict', 'Identifier')
    const other = await put({ identifier: 'b', shapes: [square(11)] })
    t.equal(other.status, 409)
    t.match(other.json, conflict)
    t.match(
      (await put({ identifier: 'b', shapes: [square(10)] }, '?geocodes=fallback')).json,
      conflict,
    )
    const { ContextId } = (await send('GET', '/api/alerts/b')).json
    const plain = { Id: ContextId, ContextName: 'mine' }
    t.match((await send('PUT', '/api/contexts', plain)).json, errorOf('AlertConflict', 'Id'))
    t.match((await send('POST', '/api/contexts', plain)).json, errorOf('AlertConflict', 'Id'))
    const alert = { Alert: { Identifier: 'x' } }
    t.match((await send('POST', '/api/contexts', alert)).json, errorOf('InvalidRequest', 'Alert'))
    const drawing = { Areas: [{}, { Drawing: {} }] }
    const field = 'Areas[1].Drawing'
    t.match((await send('POST', '/api/contexts', drawing)).json, errorOf('InvalidRequest', field))
    // Another sender may have the same identifier.
    t.equal((await put({ identifier: 'b', sender: 'other', shapes: [square(10)] })).status, 200)
    t.match((await send('GET', '/api/alerts/b')).json, errorOf('InvalidRequest', 'sender'))
    const both = ['desk@example.org', 'other']
    for (const sender of both) {
      t.match((await send('GET', `/api/alerts/b?sender=${sender}`)).json, { Sender: sender })
      t.equal((await send('DELETE', `/api/alerts/b?sender=${sender}`)).status, 204)
    }
  })

  t.test('geocodes become the polygons of the gazetteer', async (t) => {
    const areas = [areaOf(geocode('SAME', '048201'))]
    const { json } = await put({ identifier: 'g', areas })
    t.match(json.Areas, [
      {
        Drawing: { features: [{ geometry: { type: 'MultiPolygon' }, properties: {} }] },
        ContactTotalCount: 0,
      },
    ])
    t.ok(json.Areas[0].Geometry.rings[0].length > 10)
    const unknown = await put({ identifier: 'h', areas: [areaOf(geocode('SAME', '048999'))] })
    t.equal(unknown.status, 404)
    t.match(unknown.json, errorOf('UnknownArea'))
    t.equal((await send('GET', '/api/alerts/h')).status, 404, 'nothing was kept')
  })

  t.test('what cannot be kept is refused by name', async (t) => {
    const xml = alertXml({ identifier: 'c', shapes: [square(10)] })
    t.match((await send('PUT', '/api/alerts/d', xml)).json, errorOf('InvalidRequest', 'Identifier'))
    t.match((await send('PUT', '/api/alerts/c', '<alert>')).json, errorOf('InvalidXml'))
    t.match((await send('PUT', '/api/alerts/c', {})).json, errorOf('InvalidRequest', 'cap'))
    t.match((await send('PUT', '/api/alerts/c', { cap: 7 })).json, errorOf('InvalidCap', 'cap'))
    const kml = '<kml/>'
    t.equal((await send('PUT', '/api/alerts/c', kml, 'application/xml')).status, 400)
    const wrong = { identifier: 'c', shapes: [square(10)] }
    t.match((await put(wrong, '?profile=none')).json, errorOf('InvalidRequest', 'profile'))
    t.match((await put(wrong, '?radius=7')).json, errorOf('UnknownMember', 'radius'))
    t.match((await put({ identifier: 'c' })).json, errorOf('CapAreaMissing'))
    const ack = await put({ ...wrong, msgType: 'Ack' })
    t.match(ack.json, errorOf('InvalidCap', 'cap.msgType'))
    t.equal((await send('GET', '/api/alerts')).json.Total, 1, 'nothing of it was kept')
  })

  t.test('the same by JSON, and by XML of other types', async (t) => {
    const xml = alertXml({ identifier: 'j', shapes: [square(10)] })
    const first = await send('PUT', '/api/alerts/j', xml, 'application/xml')
    t.equal(first.status, 200, first.text)
    t.equal((await send('PUT', '/api/alerts/j', xml, 'text/xml')).text, first.text)
    t.equal((await send('PUT', '/api/alerts/j', { cap: xml })).text, first.text)
    const named = await send('POST', '/json/reply/PutAlertRequest', { Identifier: 'j', cap: xml })
    t.equal(named.text, first.text)
    const nws = {
      type: 'Feature',
      geometry: { type: 'Polygon', coordinates: [square(10).ring] },
      properties: {
        id: 'urn:n',
        sender: 'w',
        sent: SENT,
        status: 'Actual',
        messageType: 'Alert',
        event: 'Flood',
        category: 'Met',
        urgency: 'Immediate',
        severity: 'Severe',
        certainty: 'Observed',
        headline: 'A flood',
        areaDesc: 'there',
        geocode: { SAME: ['048201'] },
        references: [],
      },
    }
    const kept = await send('PUT', '/api/alerts/urn:n?geocodes=fallback', nws)
    t.equal(kept.status, 200, kept.text)
    t.match(kept.json, { ContextName: 'A flood', Areas: [{ Name: 'there', ContactTotalCount: 3 }] })
    t.same(kept.json.Cap, nws)
    const geojson = await send('GET', '/api/alerts/urn:n.geojson')
    t.match(geojson.json, { type: 'FeatureCollection', features: [{ id: '1' }] })
  })

  t.test('what cannot be compared is refused by name', async (t) => {
    await put({ identifier: 'k', shapes: [square(10)] })
    const changes = async (query: string) =>
      (await send('GET', `/api/alerts/k/changes${query}`)).json
    t.match(await changes(''), errorOf('InvalidRequest', 'since'))
    t.match(await changes('?since=nothing'), errorOf('NotFound', 'since'))
    t.match(await changes('?since=k&countsOnly=true'), errorOf('InvalidRequest', 'countsOnly'))
    t.match(await changes('?since=k&part=other'), errorOf('InvalidRequest', 'part'))
    t.match(await changes('?since=k&sources=99'), errorOf('UnknownSource'))
    for (const member of ['contactCountMode=Contact', 'distinct=true', 'limit=7', 'after=x']) {
      t.match(await changes(`?since=k&${member}`), errorOf('UnknownMember'), member)
    }
    t.match(
      (await send('GET', '/api/alerts/nothing/changes')).json,
      errorOf('NotFound', 'Identifier'),
    )
  })
}
