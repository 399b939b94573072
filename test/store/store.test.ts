/**
 * The store of a data directory: made if there is none, and refused if it is damaged.
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
import t from 'tap'
import { type MapConfiguration, MapConfigurationSchema } from '../../src/interface/configuration.js'
import { MapContextSchema } from '../../src/interface/context.js'
import { sampleContexts, writtenContext } from '../../src/store/documents.js'
import { createStore } from '../../src/store/store.js'
import { META, openTables, STORE_FORMAT, storeDirectory } from '../../src/store/tables.js'
import { findDamage } from '../../src/store/verify.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const text = (json: Uint8Array | undefined) => Buffer.from(json ?? []).toString()

/** Opens the store of a directory for a moment. */
async function opened(directory: string): Promise<void> {
  await (await createStore(directory, silentLog)).close()
}

for (const name of ['configuration.json', 'contexts/a.json']) {
  t.test(`${name} of before there was a store is refused, and nothing else changes`, async (t) => {
    const directory = temporaryDirectory(t)
    mkdirSync(join(directory, 'contexts'))
    writeFileSync(join(directory, name), '{}')
    const message = new RegExp(
      `${name.replace('/a.json', '')}: found documents .* not read: move them away, .* POST /api/conf`,
    )
    const fault = { code: 'DocumentInvalid', exitCode: 9, message }
    await t.rejects(createStore(directory, silentLog), fault)
    await t.rejects(createStore(directory, silentLog), fault, 'by each start')
    rmSync(join(directory, name))
    const store = await createStore(directory, silentLog)
    t.same(store.page(0, 10), { totalCount: 0, summaries: [] })
    await store.close()
    writeFileSync(join(directory, name), '{}')
    await opened(directory)
    t.equal(
      readFileSync(join(directory, name), 'utf8'),
      '{}',
      'where there is a store, it is not read',
    )
  })
}

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
    ['behind a file', (store) => symlinkSync(join(store, '..', 'file', 'x'), store)],
  ]
  if (!isRoot) {
    const readOnly = (store: string) => {
      mkdirSync(store)
      writeFileSync(join(store, 'data.mdb'), '', { mode: 0o400 })
    }
    prevented.push(['read only', readOnly])
  }
  for (const [what, prevent] of prevented) {
    const directory = temporaryDirectory(t)
    writeFileSync(join(directory, 'file'), '')
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
  const directory = temporaryDirectory(t)
  mkdirSync(storeDirectory(directory))
  const file = join(storeDirectory(directory), 'data.mdb')
  writeFileSync(file, '')
  await opened(directory)
  await openTables(storeDirectory(directory), 'write').close()
  await temporaryStore(t, directory)
  const tables = openTables(storeDirectory(directory), 'read')
  t.teardown(() => tables.close())
  t.equal(tables.meta.get(META.format), STORE_FORMAT)
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
