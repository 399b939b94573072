import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { parseJsv } from '../../src/format/jsv-parse.js'
import { limits } from '../../src/limits.js'
import type { Caller } from '../../src/pool/tasks.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { anyRecipients, columnsOf, type TestRecipient } from '../support/data/columns.js'
import { everywhere } from '../support/data/everywhere.js'
import { testSeed } from '../support/random/properties.js'
import { readGeoJson, readPoints } from '../support/read-geojson.js'
import { answerTo } from '../support/service/answer-to.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { type MemoryReply, memoryReply } from '../support/service/memory-reply.js'
import { byTier } from '../support/tier.js'

const sources = [
  {
    id: 1,
    label: 'Mobile',
    columns: columnsOf([
      recipient('+99900000001', 0.5, 0.25),
      recipient('+99900000002', -0.5, -0.25),
      recipient('+99900000003', 5, 5),
    ]),
  },
  {
    id: 2,
    label: '=Landline, "old"',
    columns: columnsOf([recipient('+9990 (12),"3"\\', 0.1, -0.1234567)]),
  },
  { id: 30, label: 'Business', columns: columnsOf([recipient('+99900000030', 9, 9)]) },
]
const service = localService(sources)
const square = {
  type: 'Polygon',
  coordinates: [
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ],
  ],
}

t.test('counts come one record a source, also where nobody is inside', async (t) => {
  const reply = await ask(service, { countsOnly: true, geoJSON: square })
  t.equal(reply.status, 200)
  t.match(reply.headers, {
    'X-Snapshot': '000001-00000000',
    'X-Sequence': '0',
    'Cache-Control': 'no-store',
  })
  t.equal(
    reply.text(),
    '{"SourceRecords":[' +
      '{"SourceId":1,"Label":"Mobile","Count":2,"Status":"Ok"},' +
      '{"SourceId":2,"Label":"=Landline, \\"old\\"","Count":1,"Status":"Ok"},' +
      '{"SourceId":30,"Label":"Business","Count":0,"Status":"Ok"}]}',
  )
})

t.test('a list holds every recipient with phone, latitude and longitude', async (t) => {
  const reply = await ask(service, { geoJSON: square })
  t.same(JSON.parse(reply.text()), {
    SourceRecords: [
      {
        SourceId: 1,
        Label: 'Mobile',
        Count: 2,
        Status: 'Ok',
        Recipients: [
          { Number: '+99900000001', LatLng: { Lat: 0.25, Lng: 0.5 } },
          { Number: '+99900000002', LatLng: { Lat: -0.25, Lng: -0.5 } },
        ],
      },
      {
        SourceId: 2,
        Label: '=Landline, "old"',
        Count: 1,
        Status: 'Ok',
        Recipients: [{ Number: '+9990 (12),"3"\\', LatLng: { Lat: -0.1234567, Lng: 0.1 } }],
      },
      { SourceId: 30, Label: 'Business', Count: 0, Status: 'Ok', Recipients: [] },
    ],
  })
  t.ok(reply.ended)
})

t.test('CSV is a row a recipient, or a row a source with counts only', async (t) => {
  const list = await ask(service, { geoJSON: square }, 'csv')
  t.equal(
    list.text(),
    'SourceId,Label,Number,Lat,Lng\r\n' +
      '1,Mobile,+99900000001,0.25,0.5\r\n' +
      '1,Mobile,+99900000002,-0.25,-0.5\r\n' +
      '2,"\'=Landline, ""old""","+9990 (12),""3""\\",-0.1234567,0.1\r\n',
  )
  const counts = await ask(service, { countsOnly: true, geoJSON: square }, 'csv')
  t.equal(
    counts.text(),
    'SourceId,Label,Count,Status\r\n' +
      '1,Mobile,2,Ok\r\n' +
      '2,"\'=Landline, ""old""",1,Ok\r\n' +
      '30,Business,0,Ok\r\n',
  )
})

const jsvRecipients = [
  '{Number:+99900000001,LatLng:{Lat:0.25,Lng:0.5}},' +
    '{Number:+99900000002,LatLng:{Lat:-0.25,Lng:-0.5}}',
  // A comma and quotes: quoted as JSV, and once more as CSV.
  '{Number:""+9990 (12),""""3""""\\"",LatLng:{Lat:-0.1234567,Lng:0.1}}',
]

t.test('the layout `sources` is a row a source, its recipients in one cell', async (t) => {
  t.equal(
    await table(service, { geoJSON: square }, 'sources'),
    'SourceId,Label,Count,Status,Recipients\r\n' +
      `1,Mobile,2,Ok,"[${jsvRecipients[0]}]"\r\n` +
      `2,"'=Landline, ""old""",1,Ok,"[${jsvRecipients[1]}]"\r\n` +
      '30,Business,0,Ok,"[]"\r\n',
  )
  t.equal(
    await table(service, { countsOnly: true, geoJSON: square }, 'sources'),
    'SourceId,Label,Count,Status,Recipients\r\n' +
      '1,Mobile,2,Ok,\r\n' +
      '2,"\'=Landline, ""old""",1,Ok,\r\n' +
      '30,Business,0,Ok,\r\n',
  )
  const nowhere = localService([])
  t.equal(
    await table(nowhere, { geoJSON: square }, 'sources'),
    'SourceId,Label,Count,Status,Recipients\r\n',
  )
})

t.test('in a table of several answers, one is a row of one cell', async (t) => {
  t.equal(
    await table(service, { geoJSON: square }, 'record'),
    'SourceRecords\r\n' +
      `"[{SourceId:1,Label:Mobile,Count:2,Status:Ok,Recipients:[${jsvRecipients[0]}]},` +
      '{SourceId:2,Label:""=Landline, """"old"""""",Count:1,Status:Ok,' +
      `Recipients:[${jsvRecipients[1]}]},` +
      '{SourceId:30,Label:Business,Count:0,Status:Ok,Recipients:[]}]"\r\n',
  )
  t.equal(
    await table(service, { countsOnly: true, geoJSON: square }, 'record'),
    'SourceRecords\r\n' +
      '"[{SourceId:1,Label:Mobile,Count:2,Status:Ok},' +
      '{SourceId:2,Label:""=Landline, """"old"""""",Count:1,Status:Ok},' +
      '{SourceId:30,Label:Business,Count:0,Status:Ok}]"\r\n',
  )
  t.equal(await table(localService([]), { geoJSON: square }, 'record'), 'SourceRecords\r\n"[]"\r\n')
})

t.test('a reader of CSV and JSV finds in every layout what JSON says', async (t) => {
  const property = fc.asyncProperty(fc.array(anyRecipients, { maxLength: 3 }), async (lists) => {
    const labels = ['a "b", c', '{[:]}', "=1+1'"]
    const asked = localService(
      lists.map((list, id) => ({ id, label: labels[id], columns: columnsOf(list) })),
      100,
    )
    const request = { geoJSON: everywhere }
    const { SourceRecords } = JSON.parse((await ask(asked, request)).text())
    const texts = JSON.stringify(textsOf(SourceRecords))
    t.same(
      SourceRecords.map((record: { Count: number }) => record.Count),
      lists.map((list) => list.length),
    )
    const rows: Record<string, string>[] = parse(await table(asked, request, 'sources'), {
      columns: true,
    })
    const sources = rows.map((row) => ({
      SourceId: Number(row.SourceId),
      Label: row.Label.replace(/^'=/, '='),
      Count: Number(row.Count),
      Status: row.Status,
      Recipients: parseJsv(row.Recipients),
    }))
    const [{ SourceRecords: cell }]: Record<string, string>[] = parse(
      await table(asked, request, 'record'),
      { columns: true },
    )
    return (
      texts === JSON.stringify(textsOf(sources)) &&
      texts === JSON.stringify(textsOf(parseJsv(cell)))
    )
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 18, soak: 1_000 }) })
})

/** What JSV cannot tell apart is made equal: a text like a number or a word, and that itself. */
function textsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textsOf)
  if (typeof value === 'string') return `${numberLike(value) ?? value.toLowerCase()}`
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, textsOf(member)]))
}

function numberLike(text: string): number | undefined {
  return /^ *-?\d+(\.\d+)?(e[+-]?\d+)? *$/i.test(text) ? Number(text) : undefined
}

t.test('an empty request selects nobody, and asks no worker', async (t) => {
  for (const body of [
    '',
    '{}',
    '{"geoJSON":null}',
    '{"countsOnly":true,"geoJSON":{"features":[]}}',
  ]) {
    const idle = localService(sources)
    const reply = memoryReply()
    await answerTo(idle, Buffer.from(body), 'json', reply)
    const { SourceRecords } = JSON.parse(reply.text())
    t.same(
      SourceRecords.map((record: { Count: number }) => record.Count),
      [0, 0, 0],
      body,
    )
    t.equal(idle.tasks.length, 0)
  }
})

t.test('a snapshot without sources answers with no record', async (t) => {
  const reply = await ask(localService([]), { geoJSON: square })
  t.match(reply.text(), /^\{"SourceRecords":\[\],"Warnings":\[\{"Code":"NobodyNear",/)
})

t.test('a recipient in several shapes is selected once', async (t) => {
  const features = [square, square].map((geometry) => ({ type: 'Feature', geometry }))
  const reply = await ask(service, { countsOnly: true, geoJSON: { features } })
  t.equal(JSON.parse(reply.text()).SourceRecords[0].Count, 2)
})

t.test('a bad request is refused before anything is sent', async (t) => {
  const reply = memoryReply()
  await t.rejects(answerTo(service, Buffer.from('{'), 'json', reply), { code: 'InvalidJson' })
  t.equal(reply.status, 0)
})

const crowd = Array.from({ length: 3 * limits.rowsPerChunkCount + 5 }, (_, i) =>
  recipient(`+999${String(i).padStart(9, '0')}`, (i % 1000) / 1000, Math.floor(i / 1000) / 1000),
)
const crowded = [{ id: 1, label: 'Crowd', columns: columnsOf(crowd) }]

t.test('a long list comes in chunks over several shards, and is whole', async (t) => {
  const several = localService(crowded, 5_000)
  for (const format of ['json', 'csv', 'ndjson', 'geojson'] as const) {
    const reply = memoryReply(2)
    await answerTo(several, Buffer.from(JSON.stringify({ geoJSON: square })), format, reply)
    t.ok(reply.ended)
    t.ok(reply.chunkCount > 5, 'it came in chunks')
    t.equal(reply.byteCount, Buffer.byteLength(reply.text()), 'its length was told')
    t.ok(reply.waitCount > 1, 'it waited for the client')
    const lines = reply.text().trimEnd().split('\n')
    const rowCount = {
      geojson: () => readPoints(readGeoJson(reply.text())).length,
      csv: () => lines.length - 1,
      ndjson: () => lines.map((line) => JSON.parse(line).Number).length,
      json: () => JSON.parse(reply.text()).SourceRecords[0].Recipients.length,
    }[format]()
    t.equal(rowCount, crowd.length, format)
  }
})

t.test('a client that goes away ends the work for its list', async (t) => {
  const abandoned = localService(crowded)
  const reply = memoryReply()
  const begin = reply.begin.bind(reply)
  reply.begin = (...head) => {
    const sink = begin(...head)
    const write = sink.write.bind(sink)
    return Object.assign(Object.create(sink), {
      write(chunk: Uint8Array) {
        reply.gone = chunk.length > 100
        return write(chunk)
      },
    })
  }
  await answerTo(abandoned, Buffer.from(JSON.stringify({ geoJSON: square })), 'json', reply)
  t.notOk(reply.ended)
  const begunCount = abandoned.tasks.filter((task) => task.kind === 'encode').length
  t.ok(begunCount <= limits.piecesAheadCount, 'nothing but what was begun before it went')
})

t.test('a list that cannot go on is broken off, never ended', async (t) => {
  const whole = localService(crowded)
  const { run } = whole.runner
  const failing = {
    ...whole,
    runner: {
      run: async (task: Parameters<typeof run>[0], caller: Caller) => {
        if (task.kind === 'encode') throw new ServiceError('Unavailable', 'for the test')
        return whole.runner.run(task, caller)
      },
    },
  } as SelectionService
  const body = Buffer.from(JSON.stringify({ geoJSON: square }))
  for (const format of ['json', 'csv', 'ndjson', 'geojson'] as const) {
    const reply = memoryReply()
    await t.rejects(answerTo(failing, body, format, reply), { code: 'Unavailable' })
    t.ok(reply.aborted, format)
    t.notOk(reply.ended, format)
  }
})

function recipient(phone: string, lng: number, lat: number): TestRecipient {
  return { phone, lng: Math.round(lng * 1e7), lat: Math.round(lat * 1e7), contact: '' }
}

/** The answer as a table: in a layout, or as a record of its own. */
async function table(
  asked: SelectionService,
  request: JsonObject,
  layout: 'flat' | 'sources' | 'record',
): Promise<string> {
  const given = await answer(asked, request, inTime())
  if (layout !== 'record') return bodyText(given.csv(layout))
  const { header, row } = given.csvRecord()
  return header + (await bodyText(row))
}

async function ask(
  asked: SelectionService,
  request: object,
  format: 'json' | 'csv' = 'json',
): Promise<MemoryReply> {
  const reply = memoryReply()
  await answerTo(asked, Buffer.from(JSON.stringify(request)), format, reply)
  return reply
}
