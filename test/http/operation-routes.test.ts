/**
 * From the bytes of a request to the operation that is carried out, over a real server, with
 * operations that say what they were given.
 *
 * @module
 */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Answer } from '../../src/format/answer.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { type OperationName, operations } from '../../src/interface/operations.js'
import { limits } from '../../src/limits.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { request, startServer } from './wire.js'

const JSON_TYPE = 'Content-Type: application/json'
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded'
const ID = 'b7e3d5a19c2f4860a1d4e7f83b6c9052'

/** Answers with its name and the members that it was given. */
const saying =
  (name: OperationName): Execute =>
  async (members) => {
    if (members.fail) throw new ServiceError('NotFound', 'for the test', 'fail')
    if (name === 'DeleteMapContextRequest') return undefined
    return sayingAnswer(name, members)
  }

function sayingAnswer(name: string, members: JsonObject): Answer {
  const text = JSON.stringify({ name, members })
  return {
    headers: { ETag: 'W/"1"', 'Cache-Control': 'no-cache' },
    heldBytes: text.length,
    json: () => text,
    csv: (layout) => `layout\r\n${layout}\r\n`,
    csvRecord: () => ({ header: 'name\r\n', row: `${name}\r\n` }),
  }
}

const executors = Object.fromEntries(
  operationNames.map((name) => [name, saying(name)]),
) as unknown as Executors

const { port } = await startServer(t, operationRoutes(executors), {
  corsOrigins: ['https://map.example.org'],
})

interface Said {
  readonly name: string
  readonly members: Record<string, unknown>
}

async function said(
  line: string,
  options: { headers?: string[]; body?: string | Uint8Array } = {},
): Promise<Said> {
  const { body } = await request(port, line, options)
  return JSON.parse(String(body)) as Said
}

t.test('an operation is found on its paths and by its name, however spelled', async (t) => {
  const cases: [line: string, name: OperationName][] = [
    ['GET /api/configuration', 'GetMapConfigurationRequest'],
    ['GET //API//Configuration/', 'GetMapConfigurationRequest'],
    ['POST /api/configuration', 'PostMapConfigurationRequest'],
    ['GET /api/contexts', 'GetMapContextsRequest'],
    ['POST /api/contexts', 'PostMapContextRequest'],
    ['PUT /api/contexts', 'PutMapContextRequest'],
    [`PUT /api/contexts/${ID}`, 'PutMapContextRequest'],
    [`GET /api/contexts/${ID}`, 'GetMapContextRequest'],
    ['POST /api/recipients', 'RecipientRequest'],
    ['POST /API/Data/geometry/', 'RecipientRequest'],
    ['POST /api/outline', 'OutlineRequest'],
    ['POST /api/grid', 'GridRequest'],
    ...['', '/api'].flatMap((prefix) =>
      ['json/reply', 'JSON/Reply', 'json/oneway'].flatMap((path): [string, OperationName][] => [
        [`POST ${prefix}/${path}/RecipientRequest`, 'RecipientRequest'],
        [`GET ${prefix}/${path}/getmapcontextrequest/`, 'GetMapContextRequest'],
        [`PUT ${prefix}//${path}//PutMapContextRequest`, 'PutMapContextRequest'],
        [`PATCH ${prefix}/${path}/GetMapConfigurationRequest`, 'GetMapConfigurationRequest'],
      ]),
    ),
    ['POST /api/RecipientRequest', 'RecipientRequest'],
    ['GET /api/recipientrequest.json', 'RecipientRequest'],
    ['POST /API/OutlineRequest', 'OutlineRequest'],
  ]
  for (const [line, name] of cases) t.equal((await said(line)).name, name, line)
})

t.test('what is no operation is 405 by name, and 404 elsewhere', async (t) => {
  const cases: [line: string, status: number, code: string][] = [
    ['POST /json/reply/NoSuch', 405, 'NotImplementedException'],
    ['GET /json/reply', 405, 'NotImplementedException'],
    ['POST /json/reply/RecipientRequest.csv', 405, 'NotImplementedException'],
    ['POST /json/reply/__proto__', 405, 'NotImplementedException'],
    ['POST /json/reply/RecipientRequest%5B', 405, 'NotImplementedException'],
    ['POST /json/bogus/RecipientRequest', 404, 'NotFound'],
    ['POST /bogus/reply/RecipientRequest', 404, 'NotFound'],
    ['GET /api/NoSuch', 404, 'NotFound'],
    ['PUT /api/recipients', 405, 'MethodNotAllowed'],
    [`POST /api/contexts/${ID}`, 405, 'MethodNotAllowed'],
    ['GET /json/reply/DeleteMapContextRequest', 405, 'MethodNotAllowed'],
    ['GET /json/reply/RecipientRequest[]', 405, 'MethodNotAllowed'],
  ]
  for (const [line, status, code] of cases) {
    const answer = await request(port, line)
    t.equal(answer.status, status, line)
    t.equal(JSON.parse(String(answer.body)).ResponseStatus.ErrorCode, code, line)
    if (status === 405) t.type(answer.headers.allow, 'string', line)
  }
})

t.test('a batch has no members in its query, which would be those of none', async (t) => {
  const options = { headers: [JSON_TYPE], body: '[{}]' }
  const refused = async (query: string) => {
    const answer = await request(port, `POST /json/reply/RecipientRequest[]${query}`, options)
    t.equal(answer.status, 400, query)
    return JSON.parse(String(answer.body)).ResponseStatus.Errors[0].FieldName
  }
  t.equal(await refused('?countsOnly=true'), 'countsOnly')
  t.equal(await refused('?format=json&Sourcs=1'), 'Sourcs')
  const allowed = '?format=json&_=1&countsOnly='
  const answer = await request(port, `POST /json/reply/RecipientRequest[]${allowed}`, options)
  t.equal(answer.status, 200)
})

t.test('members come from path, query and body, and one goes before the other', async (t) => {
  const json = (body: string) => ({ headers: [JSON_TYPE], body })
  const form = (body: string) => ({ headers: [FORM_TYPE], body })
  const shape = { type: 'Point', coordinates: [1.5, -2] }
  const drawn = encodeURIComponent(JSON.stringify(shape))
  const cases: [line: string, options: object, members: object][] = [
    ['POST /api/recipients', {}, {}],
    ['POST /api/recipients', json('{}'), {}],
    ['POST /api/recipients', json(' '), {}],
    ['POST /api/recipients', json('{"countsOnly":true,"x":1}'), { countsOnly: true, x: 1 }],
    ['POST /api/recipients?CountsOnly=true', json('{"countsOnly":false}'), { CountsOnly: 'true' }],
    ['POST /api/recipients?countsOnly=', json('{"countsOnly":false}'), { countsOnly: false }],
    [
      'POST /json/reply/RecipientRequest?countsOnly=1',
      json('{"countsOnly":false}'),
      { countsOnly: false },
    ],
    ['POST /json/reply/RecipientRequest?countsOnly=1', json('{"a":2}'), { countsOnly: '1', a: 2 }],
    [`GET /json/reply/RecipientRequest?geoJSON=${drawn}`, {}, { geoJSON: shape }],
    [
      'GET /json/reply/RecipientRequest?geojson={type:Point,coordinates:[1.5,-2]}',
      {},
      { geojson: shape },
    ],
    ['GET /json/reply/RecipientRequest?sources=1,2', {}, { sources: [1, 2] }],
    ['GET /json/reply/RecipientRequest?sources=[1,2]', {}, { sources: [1, 2] }],
    ['GET /api/contexts?skip=5&take=10&format=json&_=9&v=1', {}, { skip: '5', take: '10' }],
    [`GET /api/contexts/${ID}`, {}, { Id: ID }],
    [`GET /api/contexts/%7B${ID}%7D.json`, {}, { Id: `{${ID}}` }],
    [`GET /api/contexts/a?id=${ID}`, {}, { id: ID }],
    [`PUT /api/contexts/${ID}`, json('{"Id":"b","ContextName":"n"}'), { Id: ID, ContextName: 'n' }],
    [
      'POST /api/recipients',
      form('countsOnly=true&geoJSON=%7Btype%3APoint%7D'),
      { countsOnly: 'true', geoJSON: { type: 'Point' } },
    ],
    ['POST /api/recipients?countsOnly=0', form('countsOnly=1'), { countsOnly: '1' }],
    ['POST /api/recipients', form('{"countsOnly":true}'), { countsOnly: true }],
    [
      'POST /json/reply/RecipientRequest',
      { headers: ['Content-Type: text/csv'], body: '{"a":1}' },
      { a: 1 },
    ],
    [
      'POST /csv/reply/RecipientRequest?format=json',
      { headers: ['Content-Type: text/csv'], body: 'countsOnly,geoJSON\r\ntrue,{type:Point}\r\n' },
      { countsOnly: 'true', geoJSON: { type: 'Point' } },
    ],
    [
      'POST /api/recipients',
      { headers: ['Content-Type: application/jsv'], body: '{countsOnly:true,sources:[1,2]}' },
      { countsOnly: true, sources: [1, 2] },
    ],
    ['POST /api/recipients', { body: '{"a":1}' }, { a: 1 }],
    ['POST /api/recipients', form('\ufeff{"a":"b=c"}'), { a: 'b=c' }],
    [
      'POST /api/recipients?x=1&X=2&countsOnly=1',
      form('y=1&y=2'),
      { countsOnly: '1', x: '1', X: '2', y: '2' },
    ],
    ['POST /api/recipients', { headers: ['Content-Encoding:'], body: '{"a":1}' }, { a: 1 }],
    [
      'POST /api/recipients',
      { headers: ['Content-Type: text/plain;charset=UTF-8'], body: '{"a":1}' },
      { a: 1 },
    ],
    [
      'POST /api/recipients',
      { headers: [JSON_TYPE, 'Content-Encoding: gzip'], body: gzipSync('{"a":1}') },
      { a: 1 },
    ],
  ]
  for (const [line, options, members] of cases) {
    t.same((await said(line, options)).members, members, `${line} ${JSON.stringify(options)}`)
  }
})

t.test('a form with several parts has members too, and is whole or refused', async (t) => {
  const headers = ['Content-Type: multipart/form-data; boundary=xx']
  const part = (name: string, value: string) =>
    `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const body = `${part('countsOnly', 'true')}${part('geoJSON', '{"type":"Point"}')}--xx--\r\n`
  const { members } = await said('POST /api/recipients', { headers, body })
  t.same(members, { countsOnly: 'true', geoJSON: { type: 'Point' } })
  for (const boundary of ['"xx"', 'xx; charset=utf-8']) {
    const type = { headers: [`Content-Type: multipart/form-data; boundary=${boundary}`], body }
    t.same((await said('POST /api/recipients', type)).members, members, boundary)
  }
  const cases = [
    body.slice(0, -8),
    '--xx--',
    'nothing',
    part('a', 'b'),
    `${part('a', 'b')}${part('sources', '1').replace('\r\n\r\n', '\r\n')}--xx--`,
    `${part('a', 'b')}--xx--\r\n${part('sources', '1')}--xx--`,
    `${part('a', 'b\r\n--xxx')}${part('sources', '1')}--xx--`,
    `${part('sources', '1').trimEnd()}--xx--`,
  ]
  for (const broken of cases) {
    const answer = await request(port, 'POST /api/recipients', { headers, body: broken })
    t.equal(answer.status, 400, broken)
  }
})

t.test('a body that cannot be read is 400, never taken for an empty one', async (t) => {
  const cases: [type: string, body: string][] = [
    [JSON_TYPE, 'garbage'],
    [JSON_TYPE, '{"countsOnly":true'],
    [JSON_TYPE, '{"a":1,}'],
    [JSON_TYPE, '[]'],
    [JSON_TYPE, 'null'],
    [FORM_TYPE, 'garbage'],
    ['Content-Type: text/csv', 'a,b\r\n1\r\n'],
    ['Content-Type: text/csv', 'a,b'],
    ['Content-Type: text/csv', 'a\r\n1\r\n2\r\n'],
    ['Content-Type: application/xml', '<a/>'],
    [FORM_TYPE, 'countsOnly=1&countsonly=0'],
    [FORM_TYPE, 'geoJSON={type:'],
    [FORM_TYPE, 'contactCountMode=%FF'],
    ['Content-Type: multipart/form-data; boundary=x', '--x\r\nContent-Type: a/b\r\n\r\n1\r\n--x--'],
  ]
  for (const [type, body] of cases) {
    const { status } = await request(port, 'POST /api/recipients', { headers: [type], body })
    t.equal(status, 400, `${type} ${body}`)
  }
  const coded = { headers: [JSON_TYPE, 'Content-Encoding: zstd'], body: '{}' }
  t.equal((await request(port, 'POST /api/recipients', coded)).status, 415)
})

t.test('a form has as many members as a body of JSON, and no more', async (t) => {
  const fields = (count: number, field: (index: number) => string, separator: string) =>
    Array.from({ length: count }, (_, index) => field(index)).join(separator)
  const part = (index: number) =>
    `--x\r\nContent-Disposition: form-data; name="${index}"\r\n\r\n1\r\n`
  const bodies: [type: string, body: (count: number) => string][] = [
    [FORM_TYPE, (count) => fields(count, (index) => `a${index}=1`, '&')],
    [FORM_TYPE, (count) => fields(count, () => 'a=', '&')],
    [
      'Content-Type: text/csv',
      (count) =>
        `${fields(count, (index) => `a${index}`, ',')}\n${fields(count, () => '"1,1"', ',')}`,
    ],
    ['Content-Type: multipart/form-data; boundary=x', (count) => `${fields(count, part, '')}--x--`],
  ]
  for (const [type, body] of bodies) {
    for (const [count, status] of [
      [limits.jsonMemberCount, 200],
      [limits.jsonMemberCount + 1, 422],
    ]) {
      const options = { headers: [type], body: body(count) }
      t.equal((await request(port, 'POST /api/recipients', options)).status, status, type)
    }
  }
})

t.test('a compressed body may be as large as a plain one, and no larger', async (t) => {
  const headers = [JSON_TYPE, 'Content-Encoding: gzip']
  for (const [moreBytes, status] of [
    [0, 200],
    [1, 413],
  ]) {
    const body = gzipSync(`{}${' '.repeat(limits.bodyBytes - 2 + moreBytes)}`)
    const answer = await request(port, 'POST /api/recipients', { headers, body })
    t.equal(answer.status, status)
  }
})

t.test('an answer is compressed from a length on, and not one byte below it', async (t) => {
  const headers = [JSON_TYPE, 'Accept-Encoding: gzip']
  const bodyOf = (padBytes: number) => JSON.stringify({ pad: 'x'.repeat(padBytes) })
  const plain = await request(port, 'POST /api/recipients', { body: bodyOf(0) })
  const padBytes = limits.compressMinBytes - plain.body.length
  for (const [lessBytes, encoding] of [
    [0, 'gzip'],
    [1, undefined],
  ] as const) {
    const body = bodyOf(padBytes - lessBytes)
    const answer = await request(port, 'POST /api/recipients', { headers, body })
    t.equal(answer.headers['content-encoding'], encoding)
  }
})

t.test('a POST may mean another verb', async (t) => {
  const override = (verb: string) => ({ headers: [`X-HTTP-Method-Override: ${verb}`], body: '' })
  t.equal(
    (await said('POST /api/configuration', override('GET'))).name,
    'GetMapConfigurationRequest',
  )
  t.equal((await said('POST /api/contexts', override('put'))).name, 'PutMapContextRequest')
  const query = await request(port, `POST /api/contexts/${ID}?X-HTTP-Method-Override=DELETE`)
  t.equal(query.status, 204)
  const body = 'X-Http-Method-Override=DELETE'
  const form = { headers: [FORM_TYPE], body }
  t.equal((await request(port, `POST /api/contexts/${ID}`, form)).status, 204)
  t.equal((await request(port, 'POST /api/recipients', override('DELETE'))).status, 405)
  const ignored = { headers: ['X-HTTP-Method-Override: DELETE'] }
  t.equal((await request(port, `GET /api/contexts/${ID}`, ignored)).status, 200)
})

t.test('a POST that means HEAD has a body, which its client waits for', async (t) => {
  for (const [line, headers] of [
    ['POST /api/configuration', ['X-HTTP-Method-Override: head']],
    ['POST /json/reply/GetMapConfigurationRequest', ['X-HTTP-Method-Override: HEAD']],
    ['POST /api/configuration?X-HTTP-Method-Override=HEAD', []],
  ] as [string, string[]][]) {
    t.equal((await said(line, { headers, body: '' })).name, 'GetMapConfigurationRequest', line)
  }
})

t.test('no verb but POST, PUT and DELETE writes by name', async (t) => {
  for (const [line, headers] of [
    ['PATCH /json/reply/PostMapContextRequest', []],
    ['TRACE /api/PostMapContextRequest', []],
    ['PATCH /api/PostMapContextRequest[]', []],
    ['POST /json/reply/PostMapContextRequest', ['X-HTTP-Method-Override: GET']],
    ['POST /json/reply/PostMapContextRequest?x-http-method-override=patch', []],
  ] as [string, string[]][]) {
    const answer = await request(port, line, { headers, body: '[]' })
    t.equal(answer.status, 405, line)
    t.equal(answer.headers.allow, 'POST, PUT, DELETE', line)
  }
})

t.test('the form of an answer follows path, callback, format and Accept', async (t) => {
  const cases: [line: string, headers: string[], type: string, body: string][] = [
    ['GET /api/configuration.csv', [], 'text/csv', 'layout\r\nflat\r\n'],
    ['GET /api/configuration?FORMAT=CSV&layout=sources', [], 'text/csv', 'layout\r\nsources\r\n'],
    ['GET /api/configuration', ['Accept: text/csv'], 'text/csv', 'layout\r\nflat\r\n'],
    ['GET /api/configuration.csv?callback=a.b', [], 'text/csv', 'layout\r\nflat\r\n'],
    ['POST /csv/reply/RecipientRequest', [], 'text/csv', 'layout\r\nflat\r\n'],
  ]
  for (const [line, headers, type, body] of cases) {
    const answer = await request(port, line, { headers })
    t.equal(answer.headers['content-type'], type, line)
    t.equal(String(answer.body), body, line)
    t.match(answer.headers['content-disposition'], /^attachment;filename=\w+\.csv$/)
  }
  const script = await request(port, 'GET /api/configuration?callback=my.cb&format=csv')
  t.equal(script.headers['content-type'], 'text/javascript')
  t.equal(script.headers['x-content-type-options'], 'nosniff')
  t.equal(String(script.body), 'my.cb({"name":"GetMapConfigurationRequest","members":{}})')
  const unknown = await request(port, 'GET /api/configuration?layout=wide')
  t.equal(unknown.status, 400)
})

t.test('as NDJSON every operation is answered with its JSON on a line', async (t) => {
  const lines = operationNames.map((name) => {
    const { verb, paths } = operations[name]
    return `${verb} ${paths[0].replace('{Id}', ID)}`
  })
  for (const line of lines.filter((each) => !each.startsWith('DELETE'))) {
    const json = await request(port, line)
    for (const [target, headers] of [
      [line, ['Accept: application/x-ndjson']],
      [line, ['Accept: application/ndjson']],
      [`${line}?format=ndjson`, []],
    ] as [string, string[]][]) {
      const answer = await request(port, target, { headers })
      t.equal(answer.headers['content-type'], 'application/x-ndjson', target)
      t.notOk('content-disposition' in answer.headers)
      t.equal(String(answer.body), `${json.body}\n`, target)
      t.not(answer.headers.etag, json.headers.etag, 'and has a tag of its own')
    }
  }
  const failed = await request(port, 'GET /api/configuration?fail=1&format=ndjson')
  t.equal(failed.status, 404)
  t.equal(failed.headers['content-type'], 'application/x-ndjson')
  t.match(String(failed.body), /^\{"ResponseStatus":\{"ErrorCode":"NotFound".*\}\}\n$/)
  const script = await request(port, 'GET /api/configuration?callback=f&format=ndjson')
  t.equal(script.headers['content-type'], 'text/javascript')
})

t.test('errors take the form of the answer; in a script they have status 200', async (t) => {
  const csv = await request(port, 'GET /api/configuration.csv?fail=1')
  t.equal(csv.status, 404)
  t.equal(csv.headers['content-type'], 'text/csv')
  t.match(String(csv.body), /^ResponseStatus\r\n"\{ErrorCode:NotFound,/)
  const script = await request(port, 'GET /api/configuration?fail=1&callback=f')
  t.equal(script.status, 200)
  t.match(String(script.body), /^f\(\{"ResponseStatus":\{"ErrorCode":"NotFound".*\}\)$/)
})

t.test('a batch is answered in order, and ends with its first error', async (t) => {
  for (const path of ['/json/reply/RecipientRequest[]', '/api/RecipientRequest%5B%5D']) {
    const body = '[{"a":1},{"a":2}]'
    const answer = await request(port, `POST ${path}?format=csv`, { body })
    t.equal(answer.headers['x-autobatch-completed'], '2')
    t.equal(answer.headers['content-disposition'], 'attachment;filename="RecipientRequest[].csv"')
    const failed = await request(port, `POST ${path}`, { body: '[{"a":1},{"fail":1},{"a":3}]' })
    t.equal(failed.status, 404)
    t.equal(failed.headers['x-autobatch-completed'], '1')
    const { ResponseStatus } = JSON.parse(String(failed.body))
    t.match(ResponseStatus, { ErrorCode: 'NotFound', Meta: { AutoBatchIndex: '1' } })
  }
  for (const body of ['{}', '', '[1]', '[[]]', 'null']) {
    t.equal((await request(port, 'POST /api/RecipientRequest[]', { body })).status, 400, body)
  }
  const many = (count: number) => ({ body: `[${Array(count).fill('{}').join()}]` })
  for (const [count, status] of [
    [limits.batchRequestCount, 200],
    [limits.batchRequestCount + 1, 400],
  ]) {
    t.equal((await request(port, 'POST /api/RecipientRequest[]', many(count))).status, status)
  }
})

t.test('a tag that is known is answered 304, for each form of an answer', async (t) => {
  const first = await request(port, 'GET /api/configuration')
  const { etag } = first.headers
  t.match(etag, /^W\/".+"$/)
  const known = { headers: [`If-None-Match: "x", ${etag}`] }
  const second = await request(port, 'GET /api/configuration', known)
  t.equal(second.status, 304)
  t.equal(second.headers.etag, etag)
  t.notOk('content-length' in second.headers)
  t.equal((await request(port, 'HEAD /api/configuration', known)).status, 304)
  t.equal((await request(port, 'GET /api/configuration.csv', known)).status, 200)
  t.equal((await request(port, 'GET /api/configuration?callback=json', known)).status, 200)
  t.equal(
    (await request(port, 'GET /api/configuration', { headers: ['If-None-Match: *'] })).status,
    304,
  )
  t.equal((await request(port, 'POST /api/recipients', known)).status, 200)
})

t.test('pages of other origins may read what the configuration allows', async (t) => {
  const origin = (name: string) => ({ headers: [`Origin: https://${name}.example.org`] })
  const allowed = await request(port, 'GET /api/configuration', origin('map'))
  t.equal(allowed.headers['access-control-allow-origin'], 'https://map.example.org')
  t.equal(allowed.headers['access-control-allow-credentials'], 'true')
  t.equal(allowed.headers.vary, 'Accept, Accept-Encoding, Origin')
  t.match(allowed.headers['access-control-expose-headers'], /\bX-Next-After\b/)
  const other = await request(port, 'GET /api/configuration', origin('evil'))
  t.notOk('access-control-allow-origin' in other.headers)
  const asked = { headers: [...origin('map').headers, 'Access-Control-Request-Method: POST'] }
  const preflight = await request(port, 'OPTIONS /api/recipients', asked)
  t.equal(preflight.status, 200)
  t.match(preflight.headers['access-control-allow-headers'], /Content-Type/)
  t.equal(preflight.headers['access-control-allow-methods'], 'POST')
  t.equal((await request(port, 'OPTIONS /nowhere', asked)).status, 404)
  const missing = await request(port, 'GET /nowhere', origin('map'))
  t.equal(missing.headers['access-control-allow-origin'], 'https://map.example.org')
})

t.test('only pages that may read an answer may load it as a script', async (t) => {
  const load = (site: string, page: string) => ({
    headers: [`Sec-Fetch-Site: ${site}`, `Referer: ${page}`],
  })
  const line = 'GET /json/reply/RecipientRequest?callback=f'
  for (const site of ['cross-site', 'same-site']) {
    const { body } = await request(port, line, load(site, 'https://evil.example.org/'))
    t.match(String(body), /^f\(\{"ResponseStatus":\{"ErrorCode":"Forbidden"/)
    const allowed = await request(port, line, load(site, 'https://map.example.org/a?b'))
    t.match(String(allowed.body), /^f\(\{"name":"RecipientRequest"/)
  }
  for (const site of ['same-origin', 'none']) {
    const { body } = await request(port, line, load(site, 'https://other.example.org/'))
    t.match(String(body), /^f\(\{"name"/)
  }
})

t.test('only programs on this machine may write, and speak for nobody else', async (t) => {
  const writes = operationNames.filter((name) => operations[name].isWrite)
  for (const name of writes) {
    for (const header of [
      'X-Forwarded-For: 203.0.113.9',
      'Forwarded: for=203.0.113.9',
      'Via: 1.1 proxy',
      'X-Real-IP: 203.0.113.9',
      'Origin: https://evil.example.org',
      'Origin: null',
    ]) {
      const options = { headers: [header], body: '{}' }
      t.equal((await request(port, `POST /json/reply/${name}`, options)).status, 403, header)
      const batch = { headers: [header], body: '[{}]' }
      t.equal((await request(port, `POST /json/reply/${name}[]`, batch)).status, 403, header)
    }
    for (const header of ['Origin: https://map.example.org', 'Origin: http://localhost:8080']) {
      const { status } = await request(port, `POST /json/reply/${name}`, {
        headers: [header],
        body: '{}',
      })
      t.ok(status < 300, header)
    }
  }
})
