import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import t from 'tap'
import { openApi } from '../../src/describe/open-api.js'
import { typescriptTypes } from '../../src/describe/typescript.js'
import { compile } from '../support/compile.js'

/** A FeatureCollection of @types/geojson fitted neither the classes nor the types of the document. */
t.test('shapes of @types/geojson are shapes of a request', async (t) => {
  const program = `
import type { FeatureCollection } from 'geojson'
import { RecipientRequest } from './dtos.js'
import type { components } from './schema.js'

declare const geoJSON: FeatureCollection
export const request = new RecipientRequest({ geoJSON })
export const body: components['schemas']['RecipientRequest'] = { geoJSON }
`
  const { problems } = compile({
    'dtos.ts': typescriptTypes('1', 'http://h'),
    'schema.ts': astToString(await openapiTS(openApi('1') as unknown as OpenAPI3)),
    'program.ts': program,
  })
  t.same(problems, [])
})

/** `data` of openapi-fetch was an object or a string, of which no member could be read. */
t.test('the members of an answer can be read', async (t) => {
  const program = `
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

const { data } = await createClient<paths>({ baseUrl: '' }).POST('/api/recipients', { body: {} })
export const count: number | undefined = data?.SourceRecords?.[0]?.Count
`
  const schema = astToString(await openapiTS(openApi('1') as unknown as OpenAPI3))
  t.same(compile({ 'schema.ts': schema, 'program.ts': program }).problems, [])
})
