import t, { type Test } from 'tap'
import type { Entry, StoreEntry } from '../../src/cluster/entries.js'
import { StoreFollower } from '../../src/cluster/store-follower.js'
import { journalDirectory } from '../../src/journal/files.js'
import { createLog } from '../../src/log.js'
import { createStore } from '../../src/store/store.js'
import { appendEach, writerOfFiles } from '../support/data/clustered.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const log = createLog('silent')

const suppressing = (phones: readonly string[]): StoreEntry => {
  return { kind: 'suppressions', scope: 'all', phones, isRemoval: false }
}

/** A machine whose journal begins a file with each batch. */
async function machine(t: Test) {
  const data = temporaryDirectory(t)
  const writer = await writerOfFiles(data)
  const store = await createStore(data, log)
  t.teardown(() => Promise.all([writer.release(), store.close()]))
  return {
    store,
    writer,
    write: (...entries: readonly ('batch' | Entry)[]) => appendEach(writer, ...entries),
    follower(onCompared: (sequence: number, salt: string) => void = () => {}) {
      const follower = new StoreFollower({
        directory: journalDirectory(data),
        entries: store.entries,
        append: () => Promise.reject(new Error('nothing is appended')),
        onApplied() {},
        onCompared,
        log,
      })
      t.teardown(() => follower.stop())
      return follower
    },
  }
}

const suppressedCount = ({ store }: Awaited<ReturnType<typeof machine>>) =>
  store.suppressions.lists().reduce((sum, { count }) => sum + count, 0)

t.test('a store notes how far it is also where nothing came into it', async (t) => {
  const own = await machine(t)
  own.write(suppressing(['+9991', '+9992']), 'batch', 'batch')
  const follower = own.follower()
  follower.catchUp()
  t.equal(own.store.entries.sequence(), 3, 'with what came together')
  own.write('batch', 'batch')
  follower.catchUp()
  t.equal(own.store.entries.sequence(), 3)
  t.equal(follower.keep(), 5)
  t.equal(own.store.entries.sequence(), 5)
  t.equal(follower.keep(), 5, 'a second time, nothing changes')
  own.writer.truncate(5)
  own.write(suppressing(['+9993']))
  const next = own.follower()
  next.catchUp()
  t.equal(next.sequence, 6)
  t.equal(suppressedCount(own), 3)
})

t.test('a store that lacks what the journal keeps no more is not taken for whole', async (t) => {
  const own = await machine(t)
  own.write('batch', suppressing(['+9991']), 'batch')
  own.follower().catchUp()
  own.write(suppressing(['+9992']), 'batch', 'batch')
  t.ok(own.writer.truncate(5) > 0)
  t.throws(() => own.follower().catchUp(), {
    code: 'DocumentInvalid',
    message: /up to 3, and the journal begins behind 5/,
  })
  t.equal(suppressedCount(own), 1)
})

t.test('what machines are compared by is that of the entry, and of none behind it', async (t) => {
  const own = await machine(t)
  const comparison = { kind: 'comparison', salt: 'ab' } as const
  own.write(
    comparison,
    'batch',
    suppressing(['+9991', '+9992']),
    comparison,
    suppressing(['+9993']),
  )
  own.write({ ...comparison, salt: 'cd' }, 'batch')
  const seen: [number, string, number][] = []
  const follower = own.follower((sequence, salt) =>
    seen.push([sequence, salt, suppressedCount(own)]),
  )
  follower.catchUp()
  t.same(seen, [
    [1, 'ab', 0],
    [4, 'ab', 2],
    [6, 'cd', 3],
  ])
  t.equal(follower.sequence, 7)
  const other = await machine(t)
  other.write(suppressing(['+9991', '+9993']), 'batch', suppressing(['+9992']))
  other.follower().catchUp()
  const compared = own.store.entries.compared()
  t.match(compared, { suppressions: { count: 3 }, keys: { count: 0 }, contexts: { count: 0 } })
  const unlike = other.store.entries.compared()
  t.equal(unlike?.suppressions.count, 3)
  t.same(unlike?.keys, compared?.keys)
})
