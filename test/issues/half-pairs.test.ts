/**
 * A name with half of a surrogate pair, such as one that was cut in the middle of an emoji, was stored, and came back
 * as bytes that are no UTF-8: one of them spoilt the list of all contexts in CSV.
 */
import fc from 'fast-check'
import t from 'tap'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { mayHoldHalfPair, parse } from '../../src/selection/parse.js'
import { request, startServer } from '../http/wire.js'
import { testSeed } from '../support/random/properties.js'

/** What reached an operation. */
let taken: unknown
/** As an earlier version stored it. */
const STORED = 'x\ud83d'
const execute: Execute = async (members) => {
  taken = members
  const row = `${STORED}\r\n`
  return {
    headers: {},
    heldBytes: 0,
    json: () => JSON.stringify({ Name: STORED }),
    csv: () => `Name\r\n${row}`,
    csvRecord: () => ({ header: 'Name\r\n', row }),
  }
}
const executors = Object.fromEntries(operationNames.map((name) => [name, execute]))
const { port } = await startServer(t, operationRoutes(executors as unknown as Executors))

const post = (path: string, body: string, type = 'application/json') =>
  request(port, `POST ${path}`, { headers: [`Content-Type: ${type}`], body })

/** JSON texts of one member, and what is named. */
const HALVES: readonly (readonly [json: string, field: string])[] = [
  ['"Name":"A\\ud800"', 'Name'],
  ['"Name":"\\uDFFF"', 'Name'],
  ['"Name":"\\udc00\\ud800"', 'Name'],
  ['"Name":"x\\uD83D"', 'Name'],
  ['"Areas":[{"Name":"a"},{"Name":"\\ud800"}]', 'Areas[1].Name'],
  ['"geoJSON":{"type":"Feature","properties":{"n":"\\ud800"}}', 'geoJSON.properties.n'],
  ['"Areas":[{"\\ud800":1}]', 'Areas[0]'],
]

t.test('half of a pair is refused in JSON, and its member named', async (t) => {
  for (const path of ['contexts', 'recipients', 'audiences', 'alerts', 'grid', 'outline']) {
    for (const [json, field] of HALVES) {
      const { status, body } = await post(`/api/${path}`, `{${json}}`)
      if (status === 404 || status === 405) continue
      t.equal(status, 400, `${path} ${json}`)
      const { ResponseStatus } = JSON.parse(body.toString())
      t.match(ResponseStatus, { ErrorCode: 'InvalidRequest', Message: /half of a surrogate pair/ })
      t.match(ResponseStatus.Message, field)
    }
  }
})

t.test('what is whole is taken', async (t) => {
  for (const json of ['"\\ud83d\\ude00"', '"\\ud7ff\\ue000"', '"\\\\ud800"', '"\\ufffe\\u0000"']) {
    t.equal((await post('/api/contexts', `{"Name":${json}}`)).status, 200, json)
    t.same(taken, JSON.parse(`{"Name":${json}}`))
  }
})

t.test('so it is in other forms', async (t) => {
  const path = '/api/contexts'
  const half = '"\\ud800"'
  t.equal((await post(path, `{Name:A,Areas:[{Name:${half}}]}`, 'application/jsv')).status, 200)
  t.match(taken, { Areas: [{ Name: '\\ud800' }] }, 'JSV has no escapes')
  for (const [body, type] of [
    [`{"Name":${half}}`, 'application/jsv'],
    [`Areas=${encodeURIComponent(`[{"Name":${half}}]`)}`, 'application/x-www-form-urlencoded'],
    ['ContextName=%ED%A0%80', 'application/x-www-form-urlencoded'],
    [`Name,Areas\r\na,"[{""Name"":""\\ud800""}]"\r\n`, 'text/csv'],
  ]) {
    t.equal((await post(path, body, type)).status, 400, type)
  }
  const query = `?Areas=${encodeURIComponent(`[{"Name":${half}}]`)}`
  t.equal((await post(path + query, '{}')).status, 400)
  t.equal((await post(`${path}?ContextName=%ED%A0%80`, '{}')).status, 400)
})

t.test('what was stored before is answered in UTF-8', async (t) => {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  for (const format of ['csv', 'json', 'ndjson', 'json&callback=show']) {
    for (const batch of [false, true]) {
      const path = `/api/contexts${batch ? '/batch' : ''}?format=${format}`
      const { body } = await post(path, batch ? '[{}]' : '{}')
      t.doesNotThrow(() => utf8.decode(body), path)
    }
  }
  const { body } = await post('/api/contexts?format=csv', '{}')
  t.equal(body.toString(), 'Name\r\nx\ufffd\r\n')
})

t.test('a long path is not repeated whole', async (t) => {
  const body = `{"${'n'.repeat(5_000)}":"\\ud800"}`
  const { message } = await new Promise<Error>((_, reject) =>
    reject(parse(Buffer.from(body))),
  ).catch((error) => error)
  t.ok(message.length < 400)
})

/** Pairs were taken for halves: a small drawing with an emoji in a name took eight times as long. */
t.test('no half is missed, and a pair is none', async (t) => {
  const pieces = [
    '\\ud83d',
    '\\ude00',
    '\\uD83D\\uDE00',
    '\\\\',
    '\\n',
    'u',
    'd83d',
    '\\u00e9',
    'x',
  ]
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 12 })
  const check = (parts: readonly string[]) => {
    const json = `"${parts.join('')}"`
    const isWhole = JSON.parse(json).isWellFormed()
    if (!isWhole) return mayHoldHalfPair(json)
    return parts.includes('\\\\') || !mayHoldHalfPair(json)
  }
  fc.assert(fc.property(texts, check), { seed: testSeed(t), numRuns: 20_000 })
  t.pass()
})
