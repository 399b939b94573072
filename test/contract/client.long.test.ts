/**
 * The official client of ServiceStack, unchanged, against the running service: what worked against
 * the service that it was written for works here.
 *
 * @module
 */
import { JsonApiClient, JsonServiceClient } from '@servicestack/client'
import t, { type Test } from 'tap'
import type { Static } from 'typebox'
import type { MapConfiguration } from '../../src/interface/configuration.js'
import type { MapContext, MapContextListSchema } from '../../src/interface/context.js'
import type { RecipientResponseSchema } from '../../src/interface/recipients.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'

const HOUSTON = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const UNKNOWN = '00000000000000000000000000000000'

const west = { type: 'Polygon', coordinates: [box(-96, 29, -95.4, 30)] }
const east = { type: 'Polygon', coordinates: [box(-95.4, 29, -95, 30)] }

const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
const keyedData = temporaryDirectory(t)
const keyed = await serve(t, '--sample', '--data', keyedData, '--keys')
const key = await keyOf('admin')

/** The client as it comes, with its older paths, and as it is made for browsers. */
const clients: [name: string, create: () => JsonServiceClient][] = [
  ['the default base path', () => new JsonServiceClient(service.url)],
  ['basePath null', () => withoutBasePath()],
  ['a base path of ours', () => new JsonServiceClient(service.url).useBasePath('/api/json/reply')],
  ['JsonApiClient', () => JsonApiClient.create(service.url)],
  ['a key as bearerToken', () => withBearer(new JsonServiceClient(keyed.url), key)],
  ['a key as password', () => withPassword(new JsonServiceClient(keyed.url), key)],
  ['JsonApiClient and a bearerToken', () => withBearer(JsonApiClient.create(keyed.url), key)],
]

t.test('a client learns what is wrong with its key', async (t) => {
  const codeOf = async (client: JsonServiceClient, request: object = recipients(west)) =>
    (await client.api(request as ReturnType<typeof recipients>)).error?.errorCode
  t.equal(await codeOf(new JsonServiceClient(keyed.url)), 'Unauthorized')
  const wrong = `${key.slice(0, -4)}0000`
  t.equal(await codeOf(withBearer(new JsonServiceClient(keyed.url), wrong)), 'Unauthorized')
  t.equal(await codeOf(withPassword(new JsonServiceClient(keyed.url), wrong)), 'Unauthorized')
  const counting = withBearer(new JsonServiceClient(keyed.url), await keyOf('counts'))
  t.equal(await codeOf(counting), undefined)
  t.equal(await codeOf(counting, recipients(west, false)), 'Forbidden')
})

async function keyOf(scopes: string): Promise<string> {
  const args = ['--data', keyedData, '--name', `for-${scopes}`, '--scopes', scopes]
  const { code, stdout, stderr } = await hickory('keys', 'create', ...args)
  t.equal(code, 0, stderr)
  return stdout.trim()
}

function withBearer<Client extends JsonServiceClient>(client: Client, text: string): Client {
  client.bearerToken = text
  return client
}

function withPassword(client: JsonServiceClient, text: string): JsonServiceClient {
  client.setCredentials('anybody', text)
  return client
}

for (const [name, create] of clients) {
  t.test(`requests and answers, with ${name}`, async (t) => {
    await requestsOfEveryKind(t, create())
  })
  t.test(`errors, with ${name}`, async (t) => {
    await errorsOfEveryKind(t, create())
  })
}

async function requestsOfEveryKind(t: Test, client: JsonServiceClient): Promise<void> {
  const { SourceRecords = [] } = await client.post(recipients(west))
  t.match(SourceRecords, [{ Label: 'Mobile' }, { Label: 'Landline' }, { Label: 'Business' }])
  t.ok((SourceRecords[0].Count ?? 0) > 0)
  t.notOk('Recipients' in SourceRecords[0])

  const { SourceRecords: lists = [] } = await client.post(recipients(west, false))
  t.equal(lists.length, SourceRecords.length)
  for (const { Count, Recipients } of lists) t.equal(Recipients?.length, Count)

  const configuration = await client.get<MapConfiguration>(named('GetMapConfigurationRequest'))
  t.equal(configuration.contactCountMode, 'ContactLocation')
  t.same(await client.get<MapConfiguration>('/api/configuration'), configuration)

  const context = await client.get<MapContext>(named('GetMapContextRequest', { Id: HOUSTON }))
  t.equal(context.Id, HOUSTON)
  t.ok((context.Areas?.[0].ContactTotalCount ?? 0) > 0)
  t.equal((await client.get<MapContext>(`/api/contexts/${HOUSTON}`)).Id, HOUSTON)

  const page = await client.get<Static<typeof MapContextListSchema>>(
    named('GetMapContextsRequest', { Take: 1 }),
  )
  t.equal(page.Results?.length, 1)

  const answered = await client.api(recipients(east))
  t.ok(answered.succeeded)
  t.equal(answered.response?.SourceRecords?.length, 3)

  const both = await client.sendAll([recipients(west), recipients(east)])
  t.same(both, [await client.post(recipients(west)), await client.post(recipients(east))])
  t.same(await client.sendAll([]), [])

  await t.resolves(client.sendOneWay(recipients(west)))
  await t.resolves(client.sendAllOneWay([recipients(west), recipients(east)]))

  const dto = recipients(west)
  const raw = JSON.stringify(dto)
  const expected = await client.post(dto)
  t.same(await client.postBody(dto, raw), expected, 'raw JSON as a text')
  t.same(await client.postBody(dto, { ...dto }), expected, 'raw JSON as an object')
  t.same(await client.postToUrl('/api/data/Geometry', dto), expected)
  t.same(await client.send(dto), expected)

  const form = new FormData()
  form.append('countsOnly', 'true')
  form.append('geoJSON', JSON.stringify(west))
  t.same((await client.apiForm(dto, form)).response, expected, 'a form of several parts')

  await writesOfEveryKind(t, client)
}

async function writesOfEveryKind(t: Test, client: JsonServiceClient): Promise<void> {
  const Geometry = { type: 'polygon', rings: west.coordinates, spatialReference: { wkid: 4326 } }
  const Areas = [{ Name: 'West', Geometry }]
  const made = await client.post<MapContext>(
    named('PostMapContextRequest', { ContextName: 'From the client', Areas }),
  )
  t.match(made.Id, /^[0-9a-f]{32}$/)
  const { SourceRecords = [] } = await client.post(recipients(west))
  t.same(
    made.Areas?.[0].Contacts,
    SourceRecords.map(({ Label, Count }) => ({ Label, Count })),
  )
  const renamed = await client.put<MapContext>(
    named('PutMapContextRequest', { ...made, ContextName: 'Renamed' }),
  )
  t.equal(renamed.ContextName, 'Renamed')
  const found = await client.get<MapContext>(named('GetMapContextRequest', { Id: made.Id }))
  t.same(found, renamed)
  await t.resolves(client.delete(named('DeleteMapContextRequest', { Id: made.Id })))
  const gone = await client.api(named('GetMapContextRequest', { Id: made.Id }), undefined, 'GET')
  t.equal(gone.error?.errorCode, 'NotFound')
}

async function errorsOfEveryKind(t: Test, client: JsonServiceClient): Promise<void> {
  const unknown = named('GetMapContextRequest', { Id: UNKNOWN })
  const { error, failed } = await client.api(unknown, undefined, 'GET')
  t.ok(failed)
  t.equal(error?.errorCode, 'NotFound')
  t.type(error?.message, 'string')

  const invalid = await client.api(named('GetMapContextRequest', { Id: 'xyz' }), undefined, 'GET')
  t.equal(invalid.error?.errors?.[0].fieldName, 'Id')

  const beyond = recipients({ type: 'Polygon', coordinates: [box(0, 0, 1, 91)] })
  const refused = await client.api(beyond)
  t.equal(refused.error?.errorCode, 'LatitudeOutOfRange')
  t.match(refused.error?.errors?.[0].fieldName, /^geoJSON\.coordinates/)

  const thrown = await client.post(beyond).catch((reason: unknown) => reason)
  t.match(thrown, { responseStatus: { errorCode: 'LatitudeOutOfRange' } })
  const stopped = await client
    .sendAll([recipients(west), beyond, recipients(east)])
    .catch((reason: unknown) => reason)
  t.match(stopped, {
    responseStatus: { errorCode: 'LatitudeOutOfRange' },
  })
  const none = await client.api(named('NoSuchRequest'))
  t.match(none.error?.errorCode, /^(NotFound|NotImplementedException)$/)
}

function recipients(geoJSON: object, countsOnly = true) {
  return named<Static<typeof RecipientResponseSchema>>('RecipientRequest', { countsOnly, geoJSON })
}

/** A request as classes of that client are: members of its own, methods of its prototype. */
function named<Response>(name: string, members: object = {}) {
  const methods = {
    getTypeName: () => name,
    getMethod: () => 'POST',
    createResponse: () => ({}) as Response,
  }
  return Object.assign(Object.create(methods), members) as typeof methods
}

function withoutBasePath(): JsonServiceClient {
  const client = new JsonServiceClient(service.url)
  client.basePath = null
  return client
}

function box(west: number, south: number, east: number, north: number): number[][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}
