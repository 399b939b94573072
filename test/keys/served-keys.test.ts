/**
 * Keys of a running service, on its main thread: what is written of their use, and what others are told.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { revokeKey } from '../../src/keys/change-keys.js'
import { addRows, dayOf, noteUse, rowsOf } from '../../src/keys/key-memory.js'
import { followKeys } from '../../src/keys/key-ring.js'
import { serveKeys } from '../../src/keys/served-keys.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import type { MainStore } from '../../src/store/store.js'
import { KEYED_FORMAT, openTables, storeDirectory } from '../../src/store/tables.js'
import { accessFor, keyFor } from '../support/data/keys.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const today = () => dayOf(Date.now())
const useOf = (store: MainStore) => {
  const [use] = store.keys.uses().values()
  return use === undefined ? undefined : JSON.parse(use)
}

t.test('rows are added to those of other processes, and kept', async (t) => {
  const store = await temporaryStore(t)
  keyFor(store.keys, { rowsPerDay: 1_000 })
  const start = () => serveKeys({ store, frontCount: 1, log: silentLog })
  const [first, second] = [start(), start()]
  addRows(first.memory, 0, today(), 100)
  addRows(second.memory, 0, today(), 20)
  noteUse(second.memory, 0, 1, Date.now() + 5)
  first.stop()
  t.equal(useOf(store).rowCount, 100)
  second.stop()
  t.equal(useOf(store).rowCount, 120)
  t.ok(useOf(store).usedMs[1] > 0)
  t.equal(rowsOf(second.memory, 0, today()), 120, 'it knows of the others')
  const third = start()
  t.equal(rowsOf(third.memory, 0, today()), 120)
  third.stop()
  t.equal(useOf(store).rowCount, 120, 'nothing was added')
})

t.test('rows of yesterday, and notes that are damaged, are none', async (t) => {
  const store = await temporaryStore(t)
  keyFor(store.keys)
  const [id] = store.keys.read().records.keys()
  const rowsAfter = (note: string) => {
    store.keys.noteUses(() => new Map([[id, note]]))
    const served = serveKeys({ store, frontCount: 1, log: silentLog })
    served.stop()
    return rowsOf(served.memory, 0, today())
  }
  const note = { day: today(), rowCount: 5, usedMs: [0, 0] }
  t.equal(rowsAfter(JSON.stringify(note)), 5)
  t.equal(rowsAfter(JSON.stringify({ ...note, day: today() - 1 })), 0)
  t.equal(rowsAfter(JSON.stringify({ ...note, rowCount: -5 })), 0)
  t.equal(rowsAfter('{'), 0)
})

t.test('a change is taken when each front thread has it', async (t) => {
  const store = await temporaryStore(t)
  const served = serveKeys({ store, frontCount: 2, log: silentLog })
  t.teardown(() => served.stop())
  const follow = (frontIndex: number) => {
    const followed = followKeys({
      keys: store.keys,
      memory: served.memory,
      frontIndex,
      log: silentLog,
    })
    t.teardown(() => followed.stop())
    return followed
  }
  const front = follow(0)
  const text = keyFor(store.keys, { name: 'desk' })
  await until(() => front.ring.version === 1)
  t.ok(accessFor(front.ring, text))
  served.join()
  const other = follow(1)
  t.equal(other.ring.version, 1)
  revokeKey(store.keys, 'desk', Date.now())
  await until(() => front.ring.version === 2 && other.ring.version === 2)
  t.equal(accessFor(front.ring, text), undefined)
})

t.test('a damaged record is told of once', async (t) => {
  const directory = temporaryDirectory(t)
  const store = await temporaryStore(t, directory)
  keyFor(store.keys, { name: 'desk' })
  const [id] = store.keys.read().records.keys()
  store.keys.change(() => new Map([[id, '{']]))
  const log = createLog('silent')
  const told: unknown[] = []
  log.error = (fields: unknown) => void told.push(fields)
  const served = serveKeys({ store, frontCount: 1, log })
  keyFor(store.keys, { name: 'other' })
  await new Promise((resolve) => setTimeout(resolve, 3 * limits.keyPollMs))
  served.stop()
  t.same(told, [{ keyId: id }])
})

t.test('the first key changes the format of the store, and nothing changes it back', async (t) => {
  const directory = temporaryDirectory(t)
  const store = await temporaryStore(t, directory)
  const formatOf = () => {
    const tables = openTables(storeDirectory(directory), 'read')
    const format = tables.meta.get('format')
    void tables.close()
    return format
  }
  t.equal(formatOf(), '1')
  keyFor(store.keys)
  t.equal(formatOf(), KEYED_FORMAT)
  const phones = ['+9995550110']
  store.makeSuppressions([{ kind: 'suppressions', scope: 'all', phones, isRemoval: false }])
  t.equal(formatOf(), KEYED_FORMAT)
})

t.test('a store that cannot be read or written is told of once, and tried again', async (t) => {
  const store = await temporaryStore(t)
  const text = keyFor(store.keys, { name: 'desk' })
  const log = createLog('silent')
  const told: unknown[] = []
  log.error = (_: unknown, message?: unknown) => void told.push(message)
  let isFailing = false
  const failing =
    <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
    (...args: Args): Result => {
      if (isFailing) throw new Error('the disk is gone')
      return work(...args)
    }
  const { keys } = store
  const faulty = {
    ...store,
    keys: {
      ...keys,
      version: failing(keys.version),
      read: failing(keys.read),
      noteUses: failing(keys.noteUses),
    },
  }
  const served = serveKeys({ store: faulty, frontCount: 1, log })
  const front = followKeys({ keys: faulty.keys, memory: served.memory, frontIndex: 0, log })
  t.teardown(() => front.stop())
  isFailing = true
  addRows(served.memory, 0, today(), 7)
  await sleep(4 * limits.keyPollMs)
  t.same(
    new Set(told),
    new Set(['the store of keys cannot be read or written', 'the keys cannot be read again']),
  )
  t.equal(told.length, 2, 'once each')
  t.ok(accessFor(front.ring, text), 'what was known holds')
  isFailing = false
  revokeKey(keys, 'desk', Date.now())
  await until(() => accessFor(front.ring, text) === undefined)
  served.stop()
  t.equal(useOf(store).rowCount, 7, 'nothing is lost')
})

t.test('rows that could not be written are added the next time, once', async (t) => {
  const store = await temporaryStore(t)
  keyFor(store.keys, { name: 'desk' })
  let attempts = 0
  const noteUses: typeof store.keys.noteUses = (notesFor) => {
    if (attempts++ > 0) return store.keys.noteUses(notesFor)
    // As a transaction that the disk refuses at its end.
    notesFor(store.keys.uses())
    throw new Error('no room')
  }
  const start = () =>
    serveKeys({
      store: { ...store, keys: { ...store.keys, noteUses } },
      frontCount: 1,
      log: silentLog,
    })
  const served = start()
  addRows(served.memory, 0, today(), 7)
  served.stop()
  t.equal(useOf(store), undefined)
  served.stop()
  t.equal(useOf(store).rowCount, 7)
  served.stop()
  t.equal(useOf(store).rowCount, 7)
})
