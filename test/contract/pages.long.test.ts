/**
 * Pages of a list on the wire: every byte of them, and what is said of cursors that lead nowhere.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { readCursor, writeCursor } from '../../src/selection/cursor.js'
import { validate } from '../../src/selection/validate.js'
import { type Answer, request } from '../http/wire.js'
import { SQUARE, serveWireWorld } from './wire-world.js'

const { url } = await serveWireWorld(t)
const port = Number(new URL(url).port)

const square = { geoJSON: { type: 'Polygon', coordinates: [SQUARE] } }

type Page = Readonly<Record<string, unknown>>

/** The same request as a body of JSON, as a form, and in the query of an operation by name. */
const ways: readonly ((page: Page, format: string) => Promise<Answer>)[] = [
  (page, format) => {
    const options = {
      headers: ['Content-Type: application/json'],
      body: JSON.stringify({ ...square, ...page }),
    }
    return request(port, `POST /api/recipients?format=${format}`, options)
  },
  (page, format) => {
    const options = {
      headers: ['Content-Type: application/x-www-form-urlencoded'],
      body: queryOf(page),
    }
    return request(port, `POST /api/data/Geometry?format=${format}`, options)
  },
  (page, format) =>
    request(port, `GET /json/reply/RecipientRequest?format=${format}&${queryOf(page)}`),
]
const [asJson] = ways

function queryOf(page: Page): string {
  const members = Object.entries({ ...square, ...page })
  return members
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${name}=${encodeURIComponent(text)}`
    })
    .join('&')
}

const FIRST_LINES =
  '{"SourceId":1,"Number":"+99912345678","LatLng":{"Lat":59.91,"Lng":10.75}}\n' +
  '{"SourceId":1,"Number":"+999 22,33","LatLng":{"Lat":59.5,"Lng":10.25}}\n'
const LAST_LINE = '{"SourceId":3,"Number":"+99930000001","LatLng":{"Lat":59.25,"Lng":10.5}}\n'

/** What is on the last of two pages, in each format. */
const lastPage: Readonly<Record<string, string>> = {
  json:
    '{"SourceRecords":[' +
    '{"SourceId":1,"Label":"Landline","Count":2,"Status":"Ok","Recipients":[]},' +
    '{"SourceId":2,"Label":"a \\"q\\", b","Count":0,"Status":"Ok","Recipients":[]},' +
    '{"SourceId":3,"Label":"=1+1","Count":1,"Status":"Ok","Recipients":[' +
    '{"Number":"+99930000001","LatLng":{"Lat":59.25,"Lng":10.5}}]}]}',
  ndjson: LAST_LINE,
  csv: "SourceId,Label,Number,Lat,Lng\r\n3,'=1+1,+99930000001,59.25,10.5\r\n",
  'csv&layout=sources':
    'SourceId,Label,Count,Status,Recipients\r\n' +
    '1,Landline,2,Ok,"[]"\r\n' +
    '2,"a ""q"", b",0,Ok,"[]"\r\n' +
    '3,\'=1+1,1,Ok,"[{Number:+99930000001,LatLng:{Lat:59.25,Lng:10.5}}]"\r\n',
}

t.test('each page says where the next begins, but for the last', async (t) => {
  for (const ask of ways) {
    const first = await ask({ limit: 2 }, 'ndjson')
    t.equal(first.status, 200)
    t.equal(String(first.body), FIRST_LINES)
    const after = first.headers['x-next-after']
    t.match(after, /^[\w-]{40}$/)
    for (const page of [{ limit: 2, after }, { limit: 1, after }, { after }]) {
      const last = await ask(page, 'ndjson')
      t.equal(String(last.body), LAST_LINE)
      t.notOk('x-next-after' in last.headers)
    }
    for (const [format, body] of Object.entries(lastPage)) {
      t.equal(String((await ask({ limit: 2, after }, format)).body), body, format)
    }
  }
})

t.test('a page from one spelling of a request goes on in another', async (t) => {
  let after: string | undefined
  const lines: string[] = []
  for (const ask of ways) {
    const page = await ask({ limit: 1, after: after ?? null }, 'ndjson')
    lines.push(String(page.body))
    after = page.headers['x-next-after']
  }
  t.equal(lines.join(''), FIRST_LINES + LAST_LINE)
  t.equal(after, undefined)
})

t.test('a page may be as long as the limit says, and not one more', async (t) => {
  const most = limits.pageRecipientCount
  for (const ask of ways) {
    t.equal(String((await ask({ limit: most }, 'ndjson')).body), FIRST_LINES + LAST_LINE)
    for (const limit of [0, most + 1]) await refused(t, ask, { limit }, 'InvalidRequest', 'limit')
  }
})

/** Places behind all recipients of the snapshot. */
const BEYOND = [
  [90, 0],
  [90, 7],
  [2 ** 32 - 1, 2 ** 32 - 1],
]

t.test('a cursor that does not lead on is refused; one from beyond the end does', async (t) => {
  const first = await asJson({ limit: 1 }, 'json')
  const after = first.headers['x-next-after']
  const basis = {
    query: validate(square),
    snapshotId: first.headers['x-snapshot'],
    countMode: 'ContactLocation',
    boundaryKey: undefined,
  } as const
  const next = readCursor(basis, after)
  t.equal(next.placeId, 0)
  t.equal(writeCursor(basis, next), after)
  const expired = writeCursor({ ...basis, snapshotId: '000001-00000000' }, next)
  for (const ask of ways) {
    await refused(t, ask, { after: expired }, 'CursorExpired', 'after')
    for (const page of [
      { after: `${after}A` },
      { after: after.slice(1) },
      { after: after.replace(/^./, 'B') },
      { after, sources: [1] },
      { after, contactCountMode: 'Contact' },
    ]) {
      await refused(t, ask, page, 'InvalidRequest', 'after')
    }
    for (const [placeId, recipient] of BEYOND) {
      const beyond = {
        limit: 9,
        after: writeCursor(basis, { placeId, recipient, moment: 0, seal: 0 }),
      }
      const empty = await ask(beyond, 'ndjson')
      t.equal(empty.status, 200)
      t.equal(String(empty.body), '')
      t.notOk('x-next-after' in empty.headers)
    }
  }
})

t.test('counts have no pages, and nor has a batch', async (t) => {
  for (const ask of ways) {
    await refused(t, ask, { countsOnly: true, limit: 1 }, 'InvalidRequest', 'limit')
    await refused(t, ask, { countsOnly: true, after: 'x' }, 'InvalidRequest', 'after')
  }
  const body = JSON.stringify([square, { ...square, limit: 1 }])
  const batch = await request(port, 'POST /json/reply/RecipientRequest[]', { body })
  t.equal(batch.status, 400)
  t.equal(batch.headers['x-autobatch-completed'], '1')
  t.match(String(batch.body), /"ErrorCode":"InvalidRequest".*"FieldName":"limit"/)
})

async function refused(
  t: Test,
  ask: (page: Page, format: string) => Promise<Answer>,
  page: Page,
  code: string,
  field: string,
): Promise<void> {
  const json = await ask(page, 'json')
  t.equal(json.status, code === 'CursorExpired' ? 410 : 400, JSON.stringify(page))
  const { ResponseStatus } = JSON.parse(String(json.body))
  t.match(ResponseStatus, { ErrorCode: code, Errors: [{ ErrorCode: code, FieldName: field }] })
  const lines = await ask(page, 'ndjson')
  t.equal(lines.status, json.status)
  t.equal(lines.headers['content-type'], 'application/x-ndjson')
  t.equal(String(lines.body), `${json.body}\n`)
}
