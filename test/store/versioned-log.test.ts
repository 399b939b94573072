/**
 * Changes to live data of any kind, logged by version.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { createStore } from '../../src/store/create.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { type LogState, versionedLog } from '../../src/store/versioned-log.js'
import { silentLog } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

interface Moved {
  readonly names: readonly string[]
}

interface MovedState extends LogState {
  readonly movedCount: number
}

/** A log of other data than suppression lists, of which the last five names stay. */
async function opened(t: Test) {
  const dataDirectory = temporaryDirectory(t)
  await (await createStore(dataDirectory, silentLog)).close()
  const tables = openTables(storeDirectory(dataDirectory), 'write')
  t.teardown(() => tables.close())
  const log = versionedLog<Moved, MovedState>({
    table: tables.suppressionLog,
    meta: tables.meta,
    stateKey: 'moved',
    figures: { movedCount: 0 },
    sizeOf: ({ names }) => names.length,
    loggedMaxCount: 5,
  })
  const move = (...names: string[]) =>
    tables.transact(() =>
      log.append({ names }, { movedCount: log.state().movedCount + names.length }),
    )
  const since = (version: number) => {
    const names: string[] = []
    return log.replay(version, (change) => void names.push(...change.names)) ? names : undefined
  }
  return { tables, log, move, since }
}

t.test('each change makes the next version, and is read by who is behind it', async (t) => {
  const { log, move, since } = await opened(t)
  t.same(log.state(), { version: 0, movedCount: 0, logStart: 1, loggedCount: 0 })
  t.same(since(0), [])
  t.equal(move('a', 'b'), 1)
  t.equal(move(), 2)
  t.equal(move('c'), 3)
  t.same(since(0), ['a', 'b', 'c'])
  t.same(since(2), ['c'])
  t.same(since(3), [])
  t.equal(since(4), undefined, 'not by who has more than there is')
  t.same(log.state(), { version: 3, movedCount: 3, logStart: 1, loggedCount: 3 })
  t.ok(log.isWhole())
})

t.test('the oldest changes go when there are more than may be', async (t) => {
  const { log, move, since } = await opened(t)
  move('a', 'b')
  move('c', 'd')
  move('e')
  t.same(since(0), ['a', 'b', 'c', 'd', 'e'], 'as many as may be')
  move('f')
  t.equal(since(0), undefined)
  t.same(since(1), ['c', 'd', 'e', 'f'])
  t.same(log.state(), { version: 4, movedCount: 6, logStart: 2, loggedCount: 4 })
  move('1', '2', '3', '4', '5', '6')
  t.equal(since(4), undefined, 'a change that is too large is not kept either')
  t.same(since(5), [])
  t.same(log.state(), { version: 5, movedCount: 12, logStart: 6, loggedCount: 0 })
  t.ok(log.isWhole())
  move('g')
  t.same(since(5), ['g'])
})

t.test('a transaction that fails logs nothing', async (t) => {
  const { tables, log, move, since } = await opened(t)
  move('a')
  const fail = () => {
    log.append({ names: ['b'] }, { movedCount: 2 })
    throw new Error('on purpose')
  }
  t.throws(() => tables.transact(fail), { message: 'on purpose' })
  t.same(log.state(), { version: 1, movedCount: 1, logStart: 1, loggedCount: 1 })
  t.same(since(0), ['a'])
})

t.test('a change that is lost is noticed', async (t) => {
  const { tables, log, move, since } = await opened(t)
  for (const name of ['a', 'b', 'c']) move(name)
  tables.transact(() => tables.suppressionLog.remove(2))
  t.notOk(log.isWhole())
  t.equal(since(0), undefined)
  t.same(since(2), ['c'])
})

t.test('a change has a digest, by which logs are told apart', async (t) => {
  const [{ log, move }, other] = [await opened(t), await opened(t)]
  t.equal(log.digestOf(0), undefined)
  move('a', 'b')
  other.move('a', 'c')
  t.match(log.digestOf(1), /^[0-9a-f]{64}$/)
  t.not(log.digestOf(1), other.log.digestOf(1))
  move('c', 'd', 'e', 'f')
  t.equal(log.digestOf(1), undefined, 'one that was dropped')
  t.ok(log.digestOf(2))
  t.equal(log.digestOf(3), undefined)
})
