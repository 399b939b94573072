/**
 * Clients that others generate from the OpenAPI document of a running service: their programs compile
 * strictly, with shapes of `@types/geojson`, and get answers.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import t, { type Test } from 'tap'
import { compile } from '../support/compile.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

const HOUSTON = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'

const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenAPI3

/** Around Houston, as a program draws it: a type that knows nothing of this service. */
const DRAWING = `
import type { FeatureCollection, Geometry } from 'geojson'

const ring = [[-95.46, 29.69], [-95.27, 29.69], [-95.27, 29.81], [-95.46, 29.81], [-95.46, 29.69]]
const geometry: Geometry = { type: 'Polygon', coordinates: [ring] }
const geoJSON: FeatureCollection = {
  type: 'FeatureCollection',
  features: [{ type: 'Feature', id: 7, geometry, properties: { mine: 'kept' } }],
}
`

/** What each program finds: people, a place of one of them, and an error. */
interface Found {
  readonly count: number
  readonly contextCount: number
  readonly lng: number
  readonly errorCode: string
}

/**
 * The compiler has kept the event loop for seconds. The client must first learn which of its connections the
 * service has closed meanwhile.
 */
async function afterPause(work: () => Promise<Found>): Promise<Found> {
  await sleep(100)
  return await work()
}

function check(t: Test, { count, contextCount, lng, errorCode }: Found): void {
  t.ok(count > 0)
  t.ok(contextCount > 0)
  t.ok(lng >= -95.46 && lng <= -95.27, 'the longitude comes first')
  t.equal(errorCode, 'NotFound')
}

t.test('openapi-fetch, with types of openapi-typescript', async (t) => {
  const program = `${DRAWING}
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl })
  const counts = await client.POST('/api/recipients', { body: { countsOnly: true, geoJSON } })
  const list = await client.POST('/api/recipients.geojson', { body: { limit: 1, geoJSON: geometry } })
  const collection: FeatureCollection<Geometry | null> | undefined = list.data
  const place = collection?.features[0]?.geometry
  const context = await client.GET('/api/contexts/{Id}', { params: { path: { Id: '${HOUSTON}' } } })
  const missing = await client.GET('/api/contexts/{Id}', { params: { path: { Id: '${'0'.repeat(31)}1' } } })
  return {
    count: sum(counts.data?.SourceRecords?.map(({ Count }) => Count)),
    contextCount: context.data?.Areas?.[0]?.ContactTotalCount,
    lng: place?.type === 'Point' ? place.coordinates[0] : undefined,
    errorCode: missing.error?.ResponseStatus?.ErrorCode,
  }
}

function sum(counts: readonly (number | undefined)[] = []): number {
  return counts.reduce<number>((total, count = 0) => total + count, 0)
}
`
  const sources = { 'schema.ts': astToString(await openapiTS(document)), 'program.ts': program }
  const { problems, javascript } = compile(sources)
  t.same(problems, [])
  const library = import.meta.resolve('openapi-fetch')
  const code = javascript['program.js'].replace("'openapi-fetch'", `'${library}'`)
  const { run } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  check(t, await afterPause(() => run(service.url)))
})

t.test('a program of openapi-fetch that asks for what is not there does not compile', async (t) => {
  const schema = astToString(await openapiTS(document))
  const wrong: [line: string, problem: RegExp][] = [
    ["(await client.POST('/api/recipients', { body: {} })).data?.Records", /does not exist/],
    ["client.POST('/api/recipients', { body: { countsOnly: 'yes' } })", /not assignable/],
  ]
  for (const [line, problem] of wrong) {
    const program = `import createClient from 'openapi-fetch'
import type { paths } from './schema.js'
const client = createClient<paths>({ baseUrl: '' })
export const found = ${line}
`
    const { problems } = compile({ 'schema.ts': schema, 'program.ts': program })
    t.equal(problems.length, 1, line)
    t.match(problems[0], problem, line)
  }
})

t.test('hey-api', async (t) => {
  const directory = temporaryDirectory(t)
  await createClient({
    input: document as object,
    output: { path: join(directory, 'generated'), module: { extension: '.js' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent', file: false },
  })
  const program = `${DRAWING}
import { client } from './generated/client.gen.js'
import { getMapContextRequest, recipientRequest, recipientRequestGeoJson } from './generated/index.js'

export async function run(baseUrl: string) {
  client.setConfig({ baseUrl })
  const counts = await recipientRequest({ body: { countsOnly: true, geoJSON } })
  const list = await recipientRequestGeoJson({ body: { limit: 1, geoJSON: geometry } })
  const collection: FeatureCollection<Geometry | null> | undefined = list.data
  const place = collection?.features[0]?.geometry
  const context = await getMapContextRequest({ path: { Id: '${HOUSTON}' } })
  const missing = await getMapContextRequest({ path: { Id: '${'0'.repeat(31)}1' } })
  return {
    count: (counts.data?.SourceRecords ?? []).reduce((sum, { Count = 0 }) => sum + Count, 0),
    contextCount: context.data?.Areas?.[0]?.ContactTotalCount,
    lng: place?.type === 'Point' ? place.coordinates[0] : undefined,
    errorCode: missing.error?.ResponseStatus?.ErrorCode,
  }
}
`
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
  const generated = files.flatMap((file): [string, string][] => {
    if (!file.isFile()) return []
    const path = join(file.parentPath, file.name)
    return [[relative(directory, path), readFileSync(path, 'utf8')]]
  })
  const { problems, javascript } = compile(
    { ...Object.fromEntries(generated), 'program.ts': program },
    // Its own code is not written for this option.
    { exactOptionalPropertyTypes: false },
  )
  t.same(problems, [])
  for (const [name, code] of Object.entries({
    'package.json': '{"type":"module"}',
    ...javascript,
  })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), code)
  }
  const { run } = await import(String(pathToFileURL(join(directory, 'program.js'))))
  check(t, await afterPause(() => run(service.url)))
})
