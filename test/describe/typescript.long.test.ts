/**
 * The generated types, compiled as a client in TypeScript would and then used with the client of
 * ServiceStack.
 *
 * @module
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { JsonServiceClient } from '@servicestack/client'
import t, { type Test } from 'tap'
import { namedOperations, namedTypes } from '../../src/describe/schema.js'
import { typescriptTypes } from '../../src/describe/typescript.js'
import { compile } from '../support/compile.js'

const dtos = typescriptTypes('1.2.3', 'http://hickory.example:8080')

const PROGRAM = `
import { JsonServiceClient } from '@servicestack/client'
import type { Feature, FeatureCollection, Geometry } from 'geojson'
import {
  type Area, type CountMode, DeleteMapContextRequest, GetMapConfigurationRequest,
  GetMapContextRequest, GetMapContextsRequest, OutlineRequest, PostMapContextRequest,
  RecipientRequest, type RecipientResponse, Shape,
} from './dtos.js'

const client = new JsonServiceClient('http://hickory.example:8080')
const mode: CountMode = 'Contact'
const request = new RecipientRequest({
  countsOnly: true,
  contactCountMode: mode,
  sources: [1],
  geoJSON: {
    type: 'FeatureCollection',
    features: [
      new Shape({
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [-95.37, 29.76] },
        properties: { radius: 500, mine: 'kept' },
      }),
      { id: 7, geometry: null, properties: null },
    ],
  },
})
declare const collection: FeatureCollection
declare const feature: Feature
declare const geometry: Geometry
for (const geoJSON of [collection, feature, geometry]) new RecipientRequest({ geoJSON })
const answer: RecipientResponse = await client.post(request)
const count: number | undefined = answer.SourceRecords?.[0].Count
const lat: number | undefined = answer.SourceRecords?.[0].Recipients?.[0].LatLng?.Lat
const slider = (await client.get(new GetMapConfigurationRequest())).WebMapOptions?.mapOptions?.slider
const areas: Area[] | undefined = (await client.get(new GetMapContextRequest({ Id: 'a' }))).Areas
const total = (await client.api(new GetMapContextsRequest({ Skip: 1 }))).response?.Total
const rings = (await client.post(new OutlineRequest({ clipToBoundary: true }))).Outlines?.[0].Rings
const stored = await client.post(new PostMapContextRequest({ ContextName: 'Drill', Areas: areas ?? [] }))
await client.sendVoid(new DeleteMapContextRequest({ Id: stored.Id ?? '' }))
const both: RecipientResponse[] = await client.sendAll([request, request])
export { both, count, lat, rings, slider, total }
`

t.test('the types compile strictly, alone and in a program', async (t) => {
  const { problems } = compile({ 'dtos.ts': dtos, 'program.ts': PROGRAM })
  t.same(problems, [])
})

t.test('a program that uses them wrongly does not compile', async (t) => {
  const wrong: [line: string, problem: RegExp][] = [
    ["new RecipientRequest({ countsOnly: 'yes' })", /not assignable to type 'boolean/],
    ["new RecipientRequest({ contactCountMode: 'Location' })", /not assignable/],
    ['new RecipientRequest({ GeoJSON: {} })', /does not exist/],
    ['new MapConfiguration().Layers', /does not exist/],
  ]
  for (const [line, problem] of wrong) {
    const program = `import { MapConfiguration, RecipientRequest } from './dtos.js'\nexport const a = [MapConfiguration, RecipientRequest]\n${line}\n`
    const { problems } = compile({ 'dtos.ts': dtos, 'program.ts': program })
    t.equal(problems.length, 1, line)
    t.match(problems[0], problem, line)
  }
})

t.test('every operation and every type is there', async (t) => {
  for (const { name, verb, response } of namedOperations) {
    const returns = response === undefined ? 'IReturnVoid' : `IReturn<${response.title}>`
    t.match(dtos, new RegExp(`export class ${name} .*implements ${returns}\\n`), name)
    t.ok(
      dtos.includes(
        `getTypeName() { return '${name}'; }\n    public getMethod() { return '${verb}'; }`,
      ),
    )
  }
  const types = namedTypes(
    namedOperations.flatMap(({ request, response = {} }) => [request, response]),
  )
  for (const [name, { properties = {} }] of types) {
    t.match(dtos, new RegExp(`^export (class|type) ${name}\\b`, 'm'), name)
    for (const member of Object.keys(properties)) t.ok(dtos.includes(`    public ${member}?: `))
  }
})

t.test('it begins with where it comes from, and has no time in it', async (t) => {
  t.match(
    dtos,
    /^\/\* Options:\nVersion: 1\.2\.3\nBaseUrl: http:\/\/hickory\.example:8080\n\n\*\/\n/,
  )
  t.equal(dtos, typescriptTypes('1.2.3', 'http://hickory.example:8080'))
})

t.test('the client of ServiceStack calls operations with them', async (t) => {
  const { javascript } = compile({ 'dtos.ts': dtos })
  const module = await import(`data:text/javascript,${encodeURIComponent(javascript['dtos.js'])}`)
  const { url, requests } = await recordingServer(t)
  const client = new JsonServiceClient(url)
  const geoJSON = { type: 'Point', coordinates: [1, 2] }

  t.same(await client.post(new module.RecipientRequest({ countsOnly: true, geoJSON })), {})
  await client.get(new module.GetMapContextRequest({ Id: 'a b' }))
  await client.api(new module.PutMapContextRequest({ ContextName: 'Drill' }))
  await client.sendAll([new module.RecipientRequest(), new module.RecipientRequest()])
  client.basePath = null
  await client.api(new module.OutlineRequest({ clipToBoundary: true }))
  t.same(requests, [
    ['POST', '/api/RecipientRequest', JSON.stringify({ countsOnly: true, geoJSON })],
    ['GET', '/api/GetMapContextRequest?Id=a%20b', ''],
    ['PUT', '/api/PutMapContextRequest', '{"ContextName":"Drill"}'],
    ['POST', '/api/RecipientRequest[]', '[{},{}]'],
    ['POST', '/json/reply/OutlineRequest', '{"clipToBoundary":true}'],
  ])
})

/** Answers everything with an empty object or list, and keeps what it was sent. */
async function recordingServer(t: Test): Promise<{ url: string; requests: string[][] }> {
  const requests: string[][] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const { method = '', url = '' } = request
    requests.push([method, url, await text(request)])
    response.setHeader('Content-Type', 'application/json')
    response.end(url.endsWith('[]') ? '[]' : '{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
