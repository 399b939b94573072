import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { openApi } from '../../src/describe/open-api.js'
import { errorResponse, namedOperations, namedTypes } from '../../src/describe/schema.js'
import { errorTables } from '../../src/errors.js'
import {
  COPY_PATH,
  copyFile,
  copyText,
  type Document,
  type Parameter,
  resolve,
  validatorsOf,
} from '../support/service/open-api.js'

/** As a client reads it. */
const document = JSON.parse(JSON.stringify(openApi('1.2.3'))) as Document
const { schemas, requestBodies, responses } = document.components
const described = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([verb, operation]) => ({ path, verb, operation })),
)

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)))
  t.ok(valid, JSON.stringify(errors))
  t.equal(validator.version, '3.1')
  t.match(document, { info: { version: '1.2.3' } })
})

t.test('every reference leads somewhere', async (t) => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)]
  t.ok(references.length > 100)
  for (const [, $ref] of references) t.ok(resolve(document, { $ref }), $ref)
})

t.test('every operation is at each of its paths, and at those of its name', async (t) => {
  for (const { name, verb, paths } of namedOperations) {
    for (const path of paths) t.ok(document.paths[path]?.[verb.toLowerCase()], `${verb} ${path}`)
    t.equal(document.paths[paths[0]][verb.toLowerCase()].operationId, name)
    for (const prefix of ['/json/reply/', '/csv/reply/', '/api/']) {
      t.ok(document.paths[prefix + name]?.post, prefix + name)
    }
  }
  for (const path of ['/livez', '/readyz']) t.ok(document.paths[path]?.get, path)
  const ids = described.map(({ operation }) => operation.operationId)
  t.equal(new Set(ids).size, ids.length, 'operationIds are unique')
})

t.test('every variable of a path is a parameter, and every member has its place', async (t) => {
  for (const { name, verb, paths, request } of namedOperations) {
    for (const path of paths) {
      const { parameters = [], requestBody } = document.paths[path][verb.toLowerCase()]
      const own = parameters.filter((parameter: Parameter) => parameter.name !== undefined)
      const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, variable]) => variable)
      t.same(
        own.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
        variables,
      )
      const members = Object.keys(request.properties ?? {})
      if (requestBody === undefined)
        t.same(own.map((parameter) => parameter.name).sort(), members.sort())
      else t.ok(resolve(document, requestBody), name)
    }
  }
})

t.test('every type is there with every one of its members', async (t) => {
  const roots = namedOperations.flatMap(({ request, response = {} }) => [request, response])
  const types = namedTypes([...roots, errorResponse])
  t.ok(types.size > 35)
  for (const [name, { properties, enum: values }] of types) {
    t.same(Object.keys(schemas[name].properties ?? {}), Object.keys(properties ?? {}), name)
    t.same(schemas[name].enum, values, name)
  }
  for (const { name, request } of namedOperations.filter(({ request }) => !request.title)) {
    t.same(Object.keys(schemas[name].properties ?? {}), Object.keys(request.properties ?? {}), name)
  }
})

t.test('every code of an error is there, and said beside its status', async (t) => {
  t.same(schemas.ErrorCode.enum, Object.keys(errorTables.serviceErrors))
  const texts = [responses.Refused, responses.Failed, responses.Unavailable]
  const said = texts.map(({ description }) => description).join(' ')
  for (const [code, status] of Object.entries(errorTables.serviceErrors)) {
    t.match(said, new RegExp(`\\b${status}: [^.]*\\b${code}\\b`), code)
  }
})

t.test('every example is valid, and a wrong one would not be', async (t) => {
  const validatorOf = validatorsOf(document, { isClosed: true })
  for (const { name, examples } of namedOperations) {
    const { schema = {}, examples: shown = {} } = requestBodies[name].content['application/json']
    const validate = validatorOf(schema)
    t.same(Object.keys(shown), Object.keys(examples), name)
    for (const { value } of Object.values(shown)) {
      t.ok(validate(value), `${name}: ${JSON.stringify(validate.errors)}`)
    }
    t.notOk(validate({ Nonsense: 1 }), `${name} without such a member`)
  }
  for (const { operation } of described) {
    const parameters = operation.parameters ?? []
    for (const { schema = {}, examples = {} } of parameters) {
      const validate = validatorOf(schema)
      for (const { value } of Object.values(examples)) t.ok(validate(value), operation.operationId)
    }
  }
  const validate = validatorOf({ $ref: '#/components/schemas/RecipientRequest' })
  for (const wrong of [
    { countsOnly: 'perhaps' },
    { geoJSON: { features: [{ properties: { nearest: 0 } }] } },
    { geoJSON: { features: [{ properties: { radius: 20_015_087 } }] } },
    { contactCountMode: 'Location' },
    { limit: 0 },
    { after: 7 },
  ]) {
    t.notOk(validate(wrong), JSON.stringify(wrong))
  }
})

t.test('a request may have members that are not described', async (t) => {
  const validate = validatorsOf(document, { isClosed: false })({
    $ref: '#/components/schemas/RecipientRequest',
  })
  t.ok(validate({ GeoJson: { Shapes: [] }, note: 'mine' }))
  t.ok(validate({ geoJSON: { features: [{ geometry: null, properties: null, id: 1 }] } }))
})

t.test('the committed copy is what the code describes', async (t) => {
  const isCurrent = readFileSync(copyFile, 'utf8') === copyText()
  t.ok(isCurrent, `${COPY_PATH} is out of date: npm run openapi writes it anew`)
})
