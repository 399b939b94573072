/**
 * The store of a data directory: made, filled once with the files that were there before it, and
 * refused when it is damaged.
 *
 * @module
 */
import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type MapConfiguration, MapConfigurationSchema } from '../../src/interface/configuration.js'
import { MapContextSchema } from '../../src/interface/context.js'
import { limits } from '../../src/limits.js'
import { createStore } from '../../src/store/create.js'
import { sampleContexts } from '../../src/store/default-documents.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { findDamage } from '../../src/store/verify.js'
import { writtenContext } from '../../src/store/written-context.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const DASHED = '4c1f9a2e-7b6d-4e0f-9a3b-5c8d1e2f7a60'

const text = (json: Uint8Array | undefined) => Buffer.from(json ?? []).toString()

function dataDirectory(t: Test, files: Record<string, unknown>): string {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'contexts'))
  for (const [name, content] of Object.entries(files)) {
    const written = typeof content === 'string' ? content : JSON.stringify(content)
    writeFileSync(join(directory, name), written)
  }
  return directory
}

/** Opens the store of a directory for a moment. */
async function opened(directory: string): Promise<void> {
  await (await createStore(directory, silentLog)).close()
}

t.test('the files of a data directory are taken in, in the order of the interface', async (t) => {
  const directory = dataDirectory(t, {
    'configuration.json': {
      layers: [{ name: 'a', id: 1, type: null }],
      contactCountMode: 'Contact',
      CustomerExtent: { _partwise: null, ymin: 2, xmin: 1, Partwise: { kept: true } },
      MapDiv: 'map',
    },
    'contexts/b.json': {
      Areas: [{ Name: 'n', Id: 'i', IsActive: true, ContactTotalCount: 7, Contacts: [] }],
      Id: `{${DASHED.toUpperCase()}}`,
    },
    'contexts/.hidden.json': 'not read',
    'contexts/notes.txt': 'not read',
  })
  const store = await temporaryStore(t, directory)
  t.equal(
    text(store.configuration().json),
    '{"MapDiv":"map","contactCountMode":"Contact","CustomerExtent":{"xmin":1,"ymin":2,"Partwise":{"kept":true}},' +
      '"layers":[{"id":1,"name":"a"}]}',
  )
  t.equal(store.countMode(), 'Contact')
  const stored = store.context(ID)
  t.equal(text(stored?.json), `{"Id":"${ID}","Areas":[{"Id":"i","Name":"n","IsActive":true}]}`)
  t.same(stored?.shapeHashes, [null])
  t.same(store.page(0, 10), { totalCount: 1, summaries: [{ Id: ID, AreaCount: 1 }] })
})

t.test('what was taken in once is not read again', async (t) => {
  const directory = dataDirectory(t, {
    'configuration.json': { MapDiv: 'map' },
    'contexts/a.json': { Id: ID },
  })
  const first = await createStore(directory, silentLog)
  await first.change({ kind: 'deleteContext', id: ID })
  await first.close()
  writeFileSync(join(directory, 'configuration.json'), 'no JSON any more')
  const store = await temporaryStore(t, directory)
  t.equal(store.context(ID), undefined, 'a context that was deleted does not come back')
  t.equal(text(store.configuration().json), '{"MapDiv":"map"}')
})

t.test('without files there is the built-in configuration and no context', async (t) => {
  const store = await temporaryStore(t)
  const configuration: MapConfiguration = JSON.parse(text(store.configuration().json))
  t.same(absentMembers(MapConfigurationSchema, configuration), [])
  t.equal(store.countMode(), 'ContactLocation')
  t.same(store.page(0, 10), { totalCount: 0, summaries: [] })
})

t.test('the contexts of the sample have every member that is written', async (t) => {
  const contexts = sampleContexts()
  t.equal(contexts.length, 2)
  for (const { json, shapeHashes } of contexts) {
    const { Areas } = JSON.parse(json)
    t.ok(Areas.length >= 2 && shapeHashes.every((hash) => /^[0-9a-f]{32}$/.test(hash ?? '')))
    t.same(
      [...new Set(absentMembers(MapContextSchema.properties.Areas, Areas))].filter((name) =>
        name.startsWith('[0]'),
      ),
      COMPUTED.map((name) => `[0].${name}`),
    )
  }
})

/** Beside what is computed, the exact shape of an alert. */
const COMPUTED = [
  'Drawing',
  'IsUpdatingContactList',
  'Contacts',
  'ContactTotalCount',
  'HasContactCountError',
  'HasInvalidShapeError',
]

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

t.test(
  'a file that is not valid is refused, by file and member, and nothing is kept',
  async (t) => {
    const cases: [name: string, content: unknown, fault: RegExp][] = [
      ['configuration.json', '{"MapDiv":', /configuration\.json: is not JSON/],
      ['configuration.json', [], /configuration\.json: must be an object/],
      ['configuration.json', { MapDiv: [] }, /configuration\.json: MapDiv must be a text/],
      ['configuration.json', { Mapdivv: 'x' }, /Mapdivv is not known: do you mean MapDiv\?/],
      [
        'configuration.json',
        { Basemaps: [{ Title: 'a' }, { Url: {} }] },
        /Basemaps\[1\]\.Url must be a text/,
      ],
      ['configuration.json', { layers: [{ id: 1.5 }] }, /layers\[0\]\.id must be a whole number/],
      ['contexts/a.json', { Id: 'x' }, /a\.json: Id must be a Guid/],
      ['contexts/a.json', {}, /a\.json: Id must be a Guid/],
      [
        'contexts/a.json',
        { Id: ID, Areas: [{ Geometry: { rings: [[['x', 2]]] } }] },
        /Areas\[0\]\.Geometry\.rings\[0\]\[0\]\[0\] must be a number/,
      ],
      ['contexts/a.json', { Id: ID, Areas: [{ Id: 'i' }, { Id: 'i' }] }, /a\.json: Areas\[1\]\.Id/],
      ['contexts/a.json', ' '.repeat(limits.documentBytes + 1), /is larger than \d+ bytes/],
    ]
    for (const [index, [name, content, message]] of cases.entries()) {
      const directory = dataDirectory(t, { [name]: content })
      const fault = { code: 'DocumentInvalid', exitCode: 9, message }
      await t.rejects(createStore(directory, silentLog), fault, String(message))
      // The store that was begun is checked by a process of its own: one of each kind of file.
      if (byTier({ ci: index % (cases.length - 1) > 0, soak: false })) continue
      rmSync(join(directory, name))
      writeFileSync(join(directory, 'contexts', 'c.json'), JSON.stringify({ Id: ID }))
      const store = await createStore(directory, silentLog)
      t.equal(store.page(0, 10).totalCount, 1, 'once the file is corrected, all are taken in')
      await store.close()
    }
  },
)

t.test('two files with one Id are refused', async (t) => {
  const directory = dataDirectory(t, {
    'contexts/a.json': { Id: ID },
    'contexts/b.json': { Id: DASHED },
  })
  const fault = { code: 'DocumentInvalid', message: /b\.json: Id .* is used by another/ }
  await t.rejects(createStore(directory, silentLog), fault)
})

t.test('only the owner may read the store', async (t) => {
  const directory = temporaryDirectory(t)
  await opened(directory)
  const modes = ['', 'data.mdb', 'lock.mdb'].map(
    (name) => statSync(join(storeDirectory(directory), name)).mode & 0o777,
  )
  t.same(modes, [0o700, 0o600, 0o600])
})

t.test('a store that must not be written is told from a damaged one', async (t) => {
  const isRoot = process.geteuid?.() === 0
  const prevented: [what: string, prevent: (store: string) => void][] = [
    ['a file', (store) => writeFileSync(store, '')],
    ['behind a file', (store) => symlinkSync(join(store, '..', 'configuration.json', 'x'), store)],
  ]
  if (!isRoot) {
    const readOnly = (store: string) => {
      mkdirSync(store)
      writeFileSync(join(store, 'data.mdb'), '', { mode: 0o400 })
    }
    prevented.push(['read only', readOnly])
  }
  for (const [what, prevent] of prevented) {
    const directory = dataDirectory(t, { 'configuration.json': {} })
    prevent(storeDirectory(directory))
    const fault = { code: 'Failed', exitCode: 1, message: /must be a directory of this user/ }
    await t.rejects(createStore(directory, silentLog), fault, what)
  }
})

t.test('a store of a later version is refused, and not touched', async (t) => {
  const directory = temporaryDirectory(t)
  await opened(directory)
  const tables = openTables(storeDirectory(directory), 'write')
  tables.transact(() => {
    tables.meta.put('format', '9')
  })
  await tables.close()
  const file = join(storeDirectory(directory), 'data.mdb')
  const before = readFileSync(file)
  const fault = {
    code: 'NewerFormat',
    exitCode: 13,
    message: /found store format 9, expected 1, 2, 3/,
  }
  await t.rejects(createStore(directory, silentLog), fault)
  t.ok(readFileSync(file).equals(before), 'nothing was changed')
})

t.test('a store that was begun and never filled is filled', async (t) => {
  const directory = dataDirectory(t, { 'configuration.json': { MapDiv: 'map' } })
  mkdirSync(storeDirectory(directory))
  const file = join(storeDirectory(directory), 'data.mdb')
  writeFileSync(file, '')
  await opened(directory)
  await openTables(storeDirectory(directory), 'write').close()
  const store = await temporaryStore(t, directory)
  t.equal(text(store.configuration().json), '{"MapDiv":"map"}')
})

t.test('a store that is damaged is refused, and the process goes on', async (t) => {
  const damages: [what: string, damage: (file: string) => void][] = [
    ['cut off within its first page', (file) => truncateSync(file, 100)],
    ['cut off behind its first pages', (file) => truncateSync(file, 8_192)],
    ['cut off within a context', (file) => truncateSync(file, statSync(file).size / 2)],
    ['not a store', (file) => writeFileSync(file, 'x'.repeat(100_000))],
  ]
  const directory = temporaryDirectory(t)
  const store = await createStore(directory, silentLog)
  const context = writtenContext({ Areas: [{ DomId: 'x'.repeat(100_000) }] })
  await store.change({ kind: 'context', context, mayReplace: false })
  await store.close()
  const file = join(storeDirectory(directory), 'data.mdb')
  const written = readFileSync(file)
  for (const [what, damage] of damages) {
    writeFileSync(file, written)
    damage(file)
    const fault = { code: 'DocumentInvalid', message: /the store is damaged \(.*put a copy/ }
    await t.rejects(createStore(directory, silentLog), fault, what)
  }
})

t.test('a document that is not what was written is found', async (t) => {
  const [context] = sampleContexts()
  const changes: [what: string, table: 'contexts' | 'documents' | 'headers', value: string][] = [
    ['the context', 'contexts', '{}'],
    ['the configuration', 'documents', '{}'],
    ['a record is not JSON', 'headers', '{'],
  ]
  const directory = temporaryDirectory(t)
  const store = await createStore(directory, silentLog)
  await store.change({ kind: 'context', context, mayReplace: false })
  await store.close()
  const file = join(storeDirectory(directory), 'data.mdb')
  const written = readFileSync(file)
  for (const [what, table, value] of changes) {
    writeFileSync(file, written)
    const tables = openTables(storeDirectory(directory), 'write')
    tables.transact(() => {
      if (table === 'headers') tables.headers.put(context.id, value)
      else
        tables[table].put(table === 'documents' ? 'configuration' : context.id, Buffer.from(value))
    })
    await tables.close()
    t.match(await findDamage(storeDirectory(directory)), what)
  }
  const fault = { code: 'DocumentInvalid', message: /damaged \(a record is not JSON/ }
  await t.rejects(createStore(directory, silentLog), fault)
})
