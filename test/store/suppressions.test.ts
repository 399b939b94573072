/**
 * Suppression lists: batches whole or not at all, counted, in order, and logged.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { ownName } from '../../src/store/services.js'
import { createStore } from '../../src/store/store.js'
import {
  type LoggedChange,
  makeSuppressions,
  phonesOf,
  type Scope,
  type SuppressionChange,
  type SuppressionsChanged,
  type SuppressionsOutcome,
  suppressionLogOf,
} from '../../src/store/suppressions.js'
import {
  META,
  openTables,
  STORE_FORMAT,
  SUPPRESSING_FORMAT,
  storeDirectory,
  type Tables,
} from '../../src/store/tables.js'
import { findDamage } from '../../src/store/verify.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const add = (scope: Scope, ...phones: string[]): SuppressionChange => ({
  kind: 'suppressions',
  scope,
  phones,
  isRemoval: false,
})

const remove = (scope: Scope, ...phones: string[]): SuppressionChange => ({
  ...add(scope, ...phones),
  isRemoval: true,
})

async function openedTables(t: Test): Promise<{ directory: string; tables: Tables }> {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const directory = storeDirectory(dataDirectory)
  const tables = openTables(directory, 'write')
  t.teardown(() => tables.close())
  return { directory, tables }
}

function outcomeOf(tables: Tables, change: SuppressionChange): SuppressionsOutcome {
  return makeSuppressions(tables, [change], silentLog)[0]
}

function made(tables: Tables, change: SuppressionChange): SuppressionsChanged {
  const outcome = outcomeOf(tables, change)
  if (!outcome.isMade) throw new Error(outcome.message)
  return outcome.changed
}

t.test('phones are put on lists and taken off, and counted once', async (t) => {
  const { suppressions, suppress } = await temporaryStore(t)
  t.same(await suppress(add('all', '+9991', '+9992', '+9991')), {
    version: 1,
    changedCount: 2,
    unchangedCount: 0,
    listCount: 2,
    recipientCount: 0,
  })
  t.match(await suppress(add('all', '+9992', '+9993')), { version: 2, changedCount: 1 })
  t.match(await suppress(add(7, '+9992')), { version: 3, listCount: 1 })
  t.match(await suppress(add(0, '+9990')), { version: 4, listCount: 1 })
  t.same(suppressions.lists(), [
    { scope: 'all', count: 3 },
    { scope: 0, count: 1 },
    { scope: 7, count: 1 },
  ])
  const found = suppressions.find('+9992', undefined)
  t.match(found, [
    { scope: 'all', phone: '+9992' },
    { scope: 7, phone: '+9992' },
  ])
  t.ok(found.every(({ sinceMs }) => Math.abs(Date.now() - sinceMs) < 60_000))
  t.match(suppressions.find('+9992', 0), [{ scope: 'all' }])
  t.match(suppressions.find('+9992', 7), [{ scope: 'all' }, { scope: 7 }])
  t.same(suppressions.find('+999', undefined), [])

  t.match(await suppress(remove('all', '+9992', '+9994')), {
    version: 5,
    changedCount: 1,
    unchangedCount: 1,
    listCount: 2,
  })
  t.match(await suppress(remove(7, '+9992')), { version: 6, listCount: 0 })
  t.same(
    suppressions.lists().map(({ scope }) => scope),
    ['all', 0],
  )
  t.match(await suppress(remove(7, '+9992')), { version: 6, changedCount: 0 }, 'nothing changed')
  t.match(await suppress(add('all')), { version: 6, changedCount: 0, unchangedCount: 0 })
})

t.test('pages are in the order of bytes, each behind the one before', async (t) => {
  const { suppressions, suppress } = await temporaryStore(t)
  const phones = ['+1', '+10', '+2', '1', '01', 'ü', '€', '😀', '/', '0', '~', '+1/2', 'all/+1']
  await suppress(add('all', ...phones))
  await suppress(add(1, '+5'))
  await suppress(add(10, '+6', '+7'))
  const sorted = phones.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  for (const takeCount of [1, 2, 5, sorted.length, 100]) {
    const read: string[] = []
    for (let after: string | undefined; ; after = read.at(-1)) {
      const page = suppressions.page('all', after, takeCount)
      t.equal(page.totalCount, sorted.length)
      read.push(...page.suppressions.map(({ phone }) => phone))
      if (page.isLast) break
    }
    t.same(read, sorted, `${takeCount} at a time`)
  }
  const listed = (scope: Scope, after?: string) =>
    suppressions.page(scope, after, 9).suppressions.map(({ phone }) => phone)
  t.same(listed(1), ['+5'])
  t.same(listed(10, '+6'), ['+7'])
  t.same(listed(10, '+65'), ['+7'], 'also behind a number that is not there')
  t.same(listed(2), [])
  t.same(suppressions.page('all', undefined, 0).suppressions, [])
})

t.test('a batch that is too much changes nothing', async (t) => {
  const { tables } = await openedTables(t)
  made(tables, add('all', '+9991'))
  const setTotal = (totalCount: number) => {
    const state = { ...suppressionLogOf(tables).state(), totalCount }
    tables.transact(() => tables.meta.put(META.suppressions, JSON.stringify(state)))
  }
  setTotal(limits.suppressionCount - 2)
  const tooMany = { isMade: false, code: 'TooManySuppressions' }
  t.match(outcomeOf(tables, add('all', '+1', '+2', '+3')), tooMany)
  t.same([...phonesOf(tables, 'all', undefined, 9)], ['+9991'])
  t.equal(suppressionLogOf(tables).state().version, 1)
  t.match(made(tables, add('all', '+1', '+2')), { changedCount: 2 }, 'as many as there may be')
  t.match(outcomeOf(tables, add('all', '+3')), tooMany)
  t.match(made(tables, add('all', '+1')), { unchangedCount: 1 }, 'those on the list are no more')
  t.match(made(tables, remove('all', '+1')), { changedCount: 1 })

  setTotal(3)
  for (let scope = 1; scope < limits.suppressionListCount; scope++) made(tables, add(scope, '+1'))
  t.match(outcomeOf(tables, add(limits.suppressionListCount, '+1')), tooMany)
  t.match(made(tables, add(1, '+2')), { changedCount: 1 })
  made(tables, remove(5, '+1'))
  t.match(made(tables, add(limits.suppressionListCount, '+1')), { changedCount: 1 })
})

t.test('of changes that are made together, one that cannot be leaves the others', async (t) => {
  const store = await temporaryStore(t)
  const { version } = store.suppressions
  for (let scope = 1; scope <= limits.suppressionListCount; scope += 64) {
    const changes = Array.from({ length: 64 }, (_, i) => add(scope + i, '+1'))
    t.ok(store.makeSuppressions(changes).every(({ isMade }) => isMade))
  }
  const outcomes = store.makeSuppressions([
    add(1, '+2'),
    add(limits.suppressionListCount + 1, '+3'),
    remove(1, '+2'),
  ])
  t.match(outcomes, [
    { isMade: true, changed: { changedCount: 1 } },
    { isMade: false, code: 'TooManySuppressions' },
    { isMade: true, changed: { changedCount: 1, listCount: 1 } },
  ])
  t.equal(version(), limits.suppressionListCount + 2)
})

t.test('the log has the latest changes, and only what they changed', async (t) => {
  const { tables } = await openedTables(t)
  const log = suppressionLogOf(tables)
  made(tables, add(3, '+1', '+2'))
  made(tables, add('all', '+2'))
  made(tables, add(3, '+2', '+3'))
  const logged: LoggedChange[] = []
  t.ok(log.replay(0, (change) => void logged.push(change)))
  t.same(logged, [
    { scope: 3, numbers: ['+1', '+2'], maker: ownName },
    { scope: 'all', numbers: ['+2'], maker: ownName },
    { scope: 3, numbers: ['+3'], maker: ownName },
  ])
  t.same(log.state(), { version: 3, logStart: 1, loggedCount: 4, totalCount: 4 })

  const most = limits.suppressionLogCount
  const full = { ...log.state(), loggedCount: most - 1 }
  tables.transact(() => tables.meta.put(META.suppressions, JSON.stringify(full)))
  made(tables, remove('all', '+2'))
  t.match(log.state(), { version: 4, logStart: 1, loggedCount: most })
  made(tables, add('all', '+2'))
  t.match(log.state(), { version: 5, logStart: 2, loggedCount: most - 1 })
  t.notOk(log.replay(0, () => {}))
  t.ok(log.replay(1, () => {}))
})

/** Puts a phone on a list for each text. */
function logged(tables: Tables) {
  const log = suppressionLogOf(tables)
  let totalCount = 0
  const append = (...numbers: string[]) => {
    totalCount += numbers.length
    return tables.transact(() => log.append({ scope: 'all', numbers, maker: 'a' }, totalCount))
  }
  const since = (version: number) => {
    const phones: string[] = []
    return log.replay(version, ({ numbers }) => void phones.push(...numbers)) ? phones : undefined
  }
  return { log, append, since }
}

t.test('each change makes the next version, and is read by readers that are behind', async (t) => {
  const { tables } = await openedTables(t)
  const { log, append, since } = logged(tables)
  t.same(log.state(), { version: 0, totalCount: 0, logStart: 1, loggedCount: 0 })
  t.same(since(0), [])
  t.equal(append('a', 'b'), 1)
  t.equal(append(), 2)
  t.equal(append('c'), 3)
  t.same(since(0), ['a', 'b', 'c'])
  t.same(since(2), ['c'])
  t.same(since(3), [])
  t.equal(since(4), undefined, 'not by a reader that has more than there is')
  t.same(log.state(), { version: 3, totalCount: 3, logStart: 1, loggedCount: 3 })
  t.ok(log.isWhole())
})

t.test('the oldest changes go when there are more than may be', async (t) => {
  const { tables } = await openedTables(t)
  const { log, append, since } = logged(tables)
  atMostFive(t)
  append('a', 'b')
  append('c', 'd')
  append('e')
  t.same(since(0), ['a', 'b', 'c', 'd', 'e'], 'as many as may be')
  append('f')
  t.equal(since(0), undefined)
  t.same(since(1), ['c', 'd', 'e', 'f'])
  t.same(log.state(), { version: 4, totalCount: 6, logStart: 2, loggedCount: 4 })
  append('1', '2', '3', '4', '5', '6')
  t.equal(since(4), undefined, 'a change that is too large is not kept either')
  t.same(since(5), [])
  t.same(log.state(), { version: 5, totalCount: 12, logStart: 6, loggedCount: 0 })
  t.ok(log.isWhole())
  append('g')
  t.same(since(5), ['g'])
})

t.test('a transaction that fails logs nothing', async (t) => {
  const { tables } = await openedTables(t)
  const { log, append, since } = logged(tables)
  append('a')
  const fail = () => {
    log.append({ scope: 'all', numbers: ['b'], maker: 'a' }, 2)
    throw new Error('on purpose')
  }
  t.throws(() => tables.transact(fail), { message: 'on purpose' })
  t.same(log.state(), { version: 1, totalCount: 1, logStart: 1, loggedCount: 1 })
  t.same(since(0), ['a'])
})

t.test('a change that is lost is noticed', async (t) => {
  const { tables } = await openedTables(t)
  const { log, append, since } = logged(tables)
  for (const phone of ['a', 'b', 'c']) append(phone)
  tables.transact(() => tables.suppressionLog.remove(2))
  t.notOk(log.isWhole())
  t.equal(since(0), undefined)
  t.same(since(2), ['c'])
})

t.test('a change has a digest, which tells logs apart', async (t) => {
  const [one, other] = [await openedTables(t), await openedTables(t)].map(({ tables }) =>
    logged(tables),
  )
  atMostFive(t)
  t.equal(one.log.digestOf(0), undefined)
  one.append('a', 'b')
  other.append('a', 'c')
  t.match(one.log.digestOf(1), /^[0-9a-f]{64}$/)
  t.not(one.log.digestOf(1), other.log.digestOf(1))
  one.append('c', 'd', 'e', 'f')
  t.equal(one.log.digestOf(1), undefined, 'one that was dropped')
  t.ok(one.log.digestOf(2))
  t.equal(one.log.digestOf(3), undefined)
})

function atMostFive(t: Test): void {
  const { suppressionLogCount } = limits
  Object.assign(limits, { suppressionLogCount: 5 })
  t.teardown(() => Object.assign(limits, { suppressionLogCount }))
}

t.test('a change that meets a damaged record is not made, and the log has no phones', async (t) => {
  const { tables } = await openedTables(t)
  made(tables, add('all', '+9991'))
  const full = { ...suppressionLogOf(tables).state(), loggedCount: limits.suppressionLogCount }
  tables.transact(() => tables.meta.put(META.suppressions, JSON.stringify(full)))
  tables.transact(() => tables.suppressionLog.put(1, '{"numbers":["+9991'))
  const logged: string[] = []
  const log = { ...silentLog, error: (entry: object) => logged.push(JSON.stringify(entry)) }
  t.match(makeSuppressions(tables, [add('all', '+9992')], log as never), [
    { isMade: false, code: 'Unavailable' },
  ])
  t.same(logged, ['{"kind":"suppressions","reason":"a record is not JSON"}'])
  t.same([...phonesOf(tables, 'all', undefined, 9)], ['+9991'])
})

t.test('a store with lists is not opened by releases that know of none', async (t) => {
  const { tables } = await openedTables(t)
  t.equal(tables.meta.get(META.format), STORE_FORMAT)
  made(tables, remove('all', '+1'))
  t.equal(tables.meta.get(META.format), STORE_FORMAT, 'for as long as nothing was put there')
  made(tables, add('all', '+1'))
  t.equal(tables.meta.get(META.format), SUPPRESSING_FORMAT)
})

t.test('lists are there after a restart, and checked', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const first = await createStore(dataDirectory, silentLog)
  await first.suppress(add('all', '+1', '+2'))
  await first.suppress(add(4, '+3'))
  await first.close()
  const second = await createStore(dataDirectory, silentLog)
  t.equal(second.suppressions.version(), 2)
  t.equal(second.suppressions.page('all', undefined, 9).totalCount, 2)
  await second.close()

  const directory = storeDirectory(dataDirectory)
  t.equal(await findDamage(directory), undefined)
  const damages: [what: string, damage: (tables: Tables) => unknown][] = [
    ['a number is lost', ({ suppressions }) => suppressions.remove('all/+1')],
    ['a number is new', ({ suppressions }) => suppressions.put('all/+7', '0')],
    ['a list is lost', ({ suppressionCounts }) => suppressionCounts.remove('4')],
    ['a change is lost', ({ suppressionLog }) => suppressionLog.remove(1)],
  ]
  for (const [what, damage] of damages) {
    const tables = openTables(directory, 'write')
    const before = readAll(tables)
    tables.transact(() => damage(tables))
    await tables.close()
    t.match(await findDamage(directory), /suppression list|log of changes/, what)
    await restore(directory, before)
  }
  t.equal(await findDamage(directory), undefined)
})

const TABLES = ['suppressions', 'suppressionCounts', 'suppressionLog'] as const

function readAll(tables: Tables) {
  return TABLES.map((name) => [...tables[name].getRange({} as never)])
}

async function restore(directory: string, before: ReturnType<typeof readAll>): Promise<void> {
  const tables = openTables(directory, 'write')
  tables.transact(() => {
    for (const [i, name] of TABLES.entries()) {
      const table = tables[name] as Tables['suppressions']
      for (const key of [...table.getKeys({})]) table.remove(key)
      for (const { key, value } of before[i]) table.put(key as string, value)
    }
  })
  await tables.close()
}
