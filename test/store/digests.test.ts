/**
 * Digests of the store of a machine of a cluster: kept with each change, the same for the same entries, and wrong where
 * a row is.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { OperatorError } from '../../src/errors.js'
import { makeChange } from '../../src/store/changes.js'
import { checkStore } from '../../src/store/check.js'
import {
  findChangedPart,
  openTablesToWrite,
  RowDigest,
  readDigests,
} from '../../src/store/digests.js'
import { writtenContext } from '../../src/store/documents.js'
import { type StoreChange, storeEntries } from '../../src/store/entries.js'
import { keysVersionOf } from '../../src/store/keys.js'
import { createStore } from '../../src/store/store.js'
import {
  CLUSTERED_FORMAT,
  copyTables,
  DATA_FILE,
  META,
  openTables,
  STORE_FORMAT,
  storeDirectory,
  type Tables,
} from '../../src/store/tables.js'
import { findDamage } from '../../src/store/verify.js'
import { silentLog, squareGeometry } from '../support/data/store.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

/** Few of each, so that they are changed and removed as well. */
function randomChange(random: Random, keysVersion: number): StoreChange {
  const phone = () => `+999${random.between(0, 30)}`
  const id = random.between(1, 5).toString(16).padStart(32, '0')
  switch (random.between(0, 4)) {
    case 0:
      return {
        kind: 'document',
        change: {
          kind: 'configuration',
          json: JSON.stringify({ MapDiv: `map ${random.between(0, 9)}` }),
          countMode: random.pick(['Contact', 'ContactLocation']),
        },
      }
    case 1:
      return { kind: 'document', change: { kind: 'deleteContext', id } }
    case 2: {
      const areas = Array.from({ length: random.between(0, 3) }, () => ({
        Id: String(random.unit()),
        Geometry: squareGeometry(random.between(0, 9), 1, 1),
      }))
      const context = writtenContext({ Id: id, Areas: areas })
      return { kind: 'document', change: { kind: 'context', context, mayReplace: true } }
    }
    case 3: {
      const record = random.unit() < 0.3 ? undefined : `{"name":"${random.unit()}"}`
      const changes = new Map([[`k${random.between(0, 5)}`, record]])
      return { kind: 'keys', version: keysVersion, changes }
    }
    default:
      return {
        kind: 'suppressions',
        change: {
          kind: 'suppressions',
          scope: random.pick(['all', 1, 2]),
          phones: [phone(), phone(), phone()],
          isRemoval: random.unit() < 0.4,
        },
        atMs: random.between(1, 1e9),
      }
  }
}

/** The tables, and what is made of them. */
async function openedStore(t: Test) {
  const data = temporaryDirectory(t)
  await (await createStore(data, silentLog)).close()
  const directory = storeDirectory(data)
  const tables = openTablesToWrite(directory)
  t.teardown(() => tables.close())
  return { data, directory, tables, entries: storeEntries(tables, silentLog) }
}

/** As a disk changes it, or a program that knows nothing of digests. */
async function spoil(directory: string, damage: (tables: Tables) => unknown): Promise<void> {
  const tables = openTables(directory, 'write')
  tables.transact(() => damage(tables))
  await tables.close()
}

function digestsNow(tables: Tables) {
  tables.refresh()
  return readDigests(tables)
}

function changedPart(tables: Tables) {
  tables.refresh()
  return findChangedPart(tables)
}

const sharedNow = (tables: Tables) => {
  const { local: _, ...shared } = digestsNow(tables) ?? { local: '' }
  return shared
}

t.test('transactions keep them, in whatever portions entries come', async (t) => {
  const random = seededRandom(testSeed(t))
  const one = await openedStore(t)
  const other = await openedStore(t)
  let sequence = 1
  // A store has them from its first entry on.
  for (const { entries } of [one, other]) entries.apply([], sequence)
  for (let round = 0; round < byTier({ ci: 20, soak: 600 }); round++) {
    const changes = Array.from({ length: random.between(1, 8) }, () =>
      randomChange(random, keysVersionOf(one.tables) + (random.unit() < 0.1 ? 1 : 0)),
    )
    const before = sharedNow(one.tables)
    const outcomes = one.entries.apply(changes, sequence + changes.length)
    const isChanged = JSON.stringify(sharedNow(one.tables)) !== JSON.stringify(before)
    if (isChanged)
      t.ok(
        outcomes.some(({ isMade }) => isMade),
        'what is refused changes nothing',
      )
    for (const change of changes) other.entries.apply([change], ++sequence)
    t.equal(changedPart(one.tables), undefined)
    t.same(sharedNow(one.tables), sharedNow(other.tables))
    // What only one of them has counted.
    const json = `{"snapshotId":"${round}"}`
    const shapes = [...one.tables.uses.getKeys({})].map((use) => use.split('/')[0])
    const counts = shapes.map((shapeHash) => ({ shapeHash, json }))
    makeChange(one.tables, { kind: 'counts', counts }, silentLog)
    t.equal(changedPart(one.tables), undefined)
  }
})

t.test('a store of no cluster has none, and one that leaves has none any more', async (t) => {
  const { entries, tables } = await openedStore(t)
  makeChange(tables, { kind: 'configuration', json: '{}', countMode: 'Contact' }, silentLog)
  tables.refresh()
  t.equal(tables.meta.get(META.digests), undefined)
  t.equal(tables.meta.get(META.format), STORE_FORMAT)
  entries.apply([], 7)
  tables.refresh()
  t.equal(tables.meta.get(META.format), CLUSTERED_FORMAT)
  t.match(digestsNow(tables)?.configuration, /^(?!0{32})[0-9a-f]{32}$/, 'of what was there before')
  t.equal(changedPart(tables), undefined)
  entries.end()
  tables.refresh()
  t.equal(tables.meta.get(META.digests), undefined)
})

t.test('a row that was changed, lost, added or swapped with another is found', async (t) => {
  const { directory, entries, tables } = await openedStore(t)
  const list = { kind: 'suppressions', scope: 'all', isRemoval: false } as const
  const listed = (phones: readonly string[], atMs: number): StoreChange => ({
    kind: 'suppressions',
    change: { ...list, phones },
    atMs,
  })
  const records = new Map([
    ['a', '{"name":"a"}'],
    ['b', '{"name":"b"}'],
  ])
  entries.apply([listed(['+9991', '+9992'], 1), listed(['+9993'], 2)], 2)
  entries.apply([{ kind: 'keys', version: 0, changes: records }], 3)
  await tables.close()
  t.equal(await findDamage(directory), undefined)
  const file = join(directory, DATA_FILE)
  const written = readFileSync(file)
  const damages: [part: string, damage: (tables: Tables) => unknown][] = [
    ['suppressions', ({ suppressions }) => suppressions.put('all/+9991', '3')],
    [
      'suppressions',
      ({ suppressions }) => {
        suppressions.put('all/+9991', '2')
        suppressions.put('all/+9993', '1')
      },
    ],
    [
      'suppressions',
      ({ suppressions }) => {
        suppressions.remove('all/+9991')
        suppressions.put('all/+9981', '1')
      },
    ],
    [
      'keys',
      ({ keys }) => {
        keys.put('a', '{"name":"b"}')
        keys.put('b', '{"name":"a"}')
      },
    ],
    ['keys', ({ meta }) => meta.put(META.keysVersion, '2')],
    ['local', ({ meta }) => meta.put(META.entriesSequence, '2')],
    ['local', ({ suppressionLog }) => suppressionLog.put(1, suppressionLog.get(2) ?? '')],
  ]
  for (const [part, damage] of damages) {
    writeFileSync(file, written)
    await spoil(directory, damage)
    t.equal(await findDamage(directory), `rows have changed by themselves (${part})`)
  }
})

t.test('a change of a row that was changed by a disk does not make it good', async (t) => {
  const { directory, entries, tables } = await openedStore(t)
  const keys = (version: number, record: string): StoreChange => ({
    kind: 'keys',
    version,
    changes: new Map([['a', record]]),
  })
  entries.apply([keys(0, '{"name":"a"}')], 1)
  await tables.close()
  await spoil(directory, (tables) => tables.keys.put('a', '{"name":"c"}'))
  const again = openTablesToWrite(directory)
  t.teardown(() => again.close())
  storeEntries(again, silentLog).apply([keys(1, '{"name":"d"}')], 2)
  t.equal(changedPart(again), 'keys')
})

t.test('a bit that is flipped is found, or changes nothing', async (t) => {
  const random = seededRandom(testSeed(t))
  const { directory, entries, tables } = await openedStore(t)
  for (let sequence = 1; sequence <= 40; sequence++) {
    entries.apply([randomChange(random, keysVersionOf(tables))], sequence)
  }
  await tables.close()
  // Without free pages, which mean nothing.
  const copy = temporaryDirectory(t)
  await copyTables(directory, copy)
  const file = join(copy, DATA_FILE)
  const written = readFileSync(file)
  const used = [...written.keys()].filter((at) => written[at] !== 0)
  const before = await rowsOf(copy)
  const tally = { found: 0, harmless: 0 }
  for (let round = 0; round < byTier({ ci: 4, soak: 150 }); round++) {
    const damaged = Buffer.from(written)
    const at = random.pick(used)
    const bit = random.between(0, 7)
    damaged[at] ^= 1 << bit
    writeFileSync(file, damaged)
    try {
      await checkStore(copy)
      t.same(await rowsOf(copy), before, `bit ${bit} of byte ${at}`)
      tally.harmless++
    } catch (fault) {
      t.match(
        (fault as OperatorError).code,
        /DocumentInvalid|NewerFormat/,
        `bit ${bit} of byte ${at}`,
      )
      tally.found++
    }
    writeFileSync(file, written)
  }
  t.comment(JSON.stringify(tally))
})

t.test('the digest of rows depends on nothing but these', (t) => {
  const random = seededRandom(testSeed(t))
  const rows = Array.from({ length: 200 }, (_, at) => [`k${at}`, String(random.unit())] as const)
  const digest = new RowDigest()
  for (const [key, value] of rows) digest.add('t', key, value)
  const text = String(digest)
  t.match(text, /^[0-9a-f]{32}$/)
  const again = new RowDigest()
  for (const [key, value] of [...rows].reverse()) again.add('t', key, value)
  t.equal(String(again), text)
  const read = new RowDigest(text)
  for (const [key, value] of rows) read.remove('t', key, value)
  t.equal(String(read), '0'.repeat(32))
  const parted = [
    ['t', 'ab', 'c'],
    ['t', 'a', 'bc'],
    ['ta', 'b', 'c'],
  ].map(([table, key, value]) => {
    const one = new RowDigest()
    one.add(table, key, value)
    return String(one)
  })
  t.equal(new Set(parted).size, 3)
  t.end()
})

/** All that is read of a store; of services that run it says nothing. */
async function rowsOf(directory: string) {
  const tables = openTables(directory, 'read')
  try {
    const { meta, documents, contexts, headers, shapes, uses, counts } = tables
    const { suppressions, suppressionCounts, suppressionLog, keys, keyUses } = tables
    const names = [META.keysVersion, META.countMode, META.configurationVersion, META.totals]
    return [
      ...[documents, contexts].map((table) => [...table.getRange({})]),
      ...[headers, shapes, uses, counts, suppressions].map((table) => [...table.getRange({})]),
      ...[suppressionCounts, keys, keyUses].map((table) => [...table.getRange({})]),
      [...suppressionLog.getRange({})],
      [...names, META.suppressions, META.entriesSequence].map((name) => meta.get(name)),
    ]
  } finally {
    await tables.close()
  }
}
