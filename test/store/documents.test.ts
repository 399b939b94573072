/**
 * Documents of a data directory: loaded, checked, found, and written where there are none.
 *
 * @module
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type MapConfiguration, MapConfigurationSchema } from '../../src/interface/configuration.js'
import { type MapContext, MapContextSchema } from '../../src/interface/context.js'
import { limits } from '../../src/limits.js'
import { writeDefaultDocuments } from '../../src/store/default-documents.js'
import { createDocuments, loadDocuments } from '../../src/store/documents.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const DASHED = '4c1f9a2e-7b6d-4e0f-9a3b-5c8d1e2f7a60'

const parse = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes))

async function dataDirectory(t: Test, files: Record<string, unknown>): Promise<string> {
  const directory = t.testdir({ contexts: {} })
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    await writeFile(join(directory, name), text)
  }
  return directory
}

t.test('documents are served in the order of the interface, without nulls', async (t) => {
  const directory = await dataDirectory(t, {
    'configuration.json': {
      layers: [{ name: 'a', id: 1, type: null }],
      contactCountMode: null,
      CustomerExtent: { _partwise: null, ymin: 2, xmin: 1, Partwise: { kept: true } },
      MapDiv: 'map',
    },
    'contexts/b.json': { Areas: [{ Name: 'n', Id: 'i' }], Id: `{${DASHED.toUpperCase()}}` },
    'contexts/.hidden.json': 'not read',
    'contexts/notes.txt': 'not read',
  })
  const documents = createDocuments(await loadDocuments(directory))
  t.equal(
    new TextDecoder().decode(documents.configuration),
    '{"MapDiv":"map","CustomerExtent":{"xmin":1,"ymin":2,"Partwise":{"kept":true}},' +
      '"layers":[{"id":1,"name":"a"}]}',
  )
  t.equal(
    new TextDecoder().decode(documents.findContext(ID)),
    `{"Id":"${ID}","Areas":[{"Id":"i","Name":"n"}]}`,
  )
})

t.test('a context is found by every form of its Guid', async (t) => {
  const directory = await dataDirectory(t, { 'contexts/a.json': { Id: ID } })
  const documents = createDocuments(await loadDocuments(directory))
  for (const form of [ID, DASHED, `{${DASHED}}`, `(${DASHED})`]) {
    t.equal(parse(documents.findContext(form)).Id, ID, form)
    t.equal(parse(documents.findContext(form.toUpperCase())).Id, ID, form)
  }
})

t.test('what is no Guid is 400, an unknown one is 404', async (t) => {
  const directory = await dataDirectory(t, { 'contexts/a.json': { Id: ID } })
  const documents = createDocuments(await loadDocuments(directory))
  const invalid = ['', 'x', `${ID}0`, ID.slice(1), `{${ID}}`, `{${DASHED})`, `{${DASHED}`]
  for (const id of [...invalid, ` ${DASHED}`, `${DASHED}\n`, DASHED.replace('4', 'g')]) {
    t.throws(
      () => documents.findContext(id),
      { code: 'InvalidRequest', status: 400, field: 'Id' },
      id,
    )
  }
  const unknown = { code: 'NotFound', status: 404 }
  t.throws(() => documents.findContext('00000000-0000-0000-0000-000000000000'), unknown)
})

t.test('without documents there is the built-in configuration and no context', async (t) => {
  const stored = await loadDocuments(join(t.testdir(), 'missing'))
  t.equal(parse(stored.configurationJson).contactCountMode, 'ContactLocation')
  t.equal(stored.contextJsons.size, 0)
})

t.test('a document that is not valid is refused, by file and member', async (t) => {
  const cases: [name: string, content: unknown, fault: RegExp][] = [
    ['configuration.json', '{"MapDiv":', /configuration\.json: is not JSON/],
    ['configuration.json', [], /configuration\.json: must be object/],
    ['configuration.json', { MapDiv: 1 }, /MapDiv must be string/],
    ['configuration.json', { mapDiv: 'x' }, /mapDiv is not a member that is known/],
    [
      'configuration.json',
      { Basemaps: [{ Title: 'a' }, { Url: 5 }] },
      /Basemaps\[1\]\.Url must be string/,
    ],
    ['configuration.json', { layers: [{ id: 1.5 }] }, /layers\[0\]\.id must be integer/],
    ['contexts/a.json', { Id: 'x' }, /a\.json: Id must be a Guid/],
    ['contexts/a.json', {}, /a\.json: Id must be a Guid/],
    [
      'contexts/a.json',
      { Id: ID, Areas: [{ Geometry: { rings: [[['x', 2]]] } }] },
      /Areas\[0\]\.Geometry\.rings\[0\]\[0\]\[0\] must be number/,
    ],
    ['contexts/a.json', ' '.repeat(limits.documentBytes + 1), /is larger than \d+ bytes/],
  ]
  for (const [name, content, fault] of cases) {
    const directory = await dataDirectory(t, { [name]: content })
    const expected = { code: 'DocumentInvalid', message: fault }
    await t.rejects(loadDocuments(directory), expected, String(fault))
  }
})

t.test('two contexts with one Id are refused', async (t) => {
  const files = { 'contexts/a.json': { Id: ID }, 'contexts/b.json': { Id: DASHED } }
  const directory = await dataDirectory(t, files)
  await t.rejects(loadDocuments(directory), { message: /b\.json: Id .* is used by another/ })
})

t.test('the default documents fill every member and count the contacts', async (t) => {
  const directory = t.testdir()
  let countedCount = 0
  await writeDefaultDocuments(directory, async (rings) => {
    countedCount += rings.length
    return [
      { Label: 'A', Count: rings[0].length },
      { Label: 'B', Count: 1_000 },
    ]
  })
  t.ok(countedCount >= 4)
  t.same((await readdir(directory, { recursive: true })).sort(), [
    'configuration.json',
    'contexts',
    'contexts/houston.json',
    'contexts/san-francisco-bay.json',
  ])
  const stored = await loadDocuments(directory)
  const configuration: MapConfiguration = parse(stored.configurationJson)
  t.same(absentMembers(MapConfigurationSchema, configuration), [])
  t.equal(stored.contextJsons.size, 2)
  for (const json of stored.contextJsons.values()) checkContext(t, parse(json))
})

/** Members that a schema has and a value has not, at every depth. */
function absentMembers(schema: object, value: unknown, path = ''): string[] {
  const { properties = {}, items } = schema as { properties?: object; items?: object }
  if (items !== undefined && Array.isArray(value)) {
    return value.flatMap((item, i) => absentMembers(items, item, `${path}[${i}]`))
  }
  return Object.entries(properties).flatMap(([name, member]) => {
    const own = (value as Record<string, unknown>)[name]
    return own === undefined ? `${path}.${name}` : absentMembers(member, own, `${path}.${name}`)
  })
}

function checkContext(t: Test, context: MapContext): void {
  t.ok((context.Areas ?? []).length >= 2)
  t.same(absentMembers(MapContextSchema, context), [])
  for (const area of context.Areas ?? []) {
    t.equal(area.Geometry?.spatialReference?.wkid, 4326)
    const [shell] = area.Geometry?.rings ?? []
    t.same(shell[0], shell.at(-1), 'closed')
    t.same(area.Contacts, [
      { Label: 'A', Count: shell.length },
      { Label: 'B', Count: 1_000 },
    ])
    t.equal(area.ContactTotalCount, shell.length + 1_000)
  }
}

t.test('documents that are there already are left as they are', async (t) => {
  const directory = t.testdir({ 'configuration.json': '{"MapDiv":"own"}' })
  await mkdir(join(directory, 'contexts'))
  await writeDefaultDocuments(directory, async () => [])
  t.equal(await readFile(join(directory, 'configuration.json'), 'utf8'), '{"MapDiv":"own"}')
  t.same(parse((await loadDocuments(directory)).configurationJson), { MapDiv: 'own' })
})
