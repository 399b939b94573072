import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Entry, Retention } from '../../src/cluster/entries.js'
import type { ServedSnapshots } from '../../src/cluster/messages.js'
import { Retaining } from '../../src/cluster/retaining.js'
import { createLog } from '../../src/log.js'
import { encodeIdentities } from '../../src/snapshot/identities/list.js'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { audienceName, audiencesDirectory } from '../../src/snapshot/retention/audience-names.js'
import { writePins } from '../../src/snapshot/retention/pins.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const log = createLog('silent')

const idOf = (generation: number) => `${String(generation).padStart(6, '0')}-0123abcd`

/** Snapshots of imports, each of which has the journal up to a hundred times its generation. */
function directoryWith(t: Test, generations: readonly number[], current = generations.at(-1)) {
  const data = temporaryDirectory(t)
  for (const generation of generations) addSnapshot(data, generation)
  writeFileSync(join(data, 'CURRENT'), `${idOf(current ?? 0)}\n`)
  return data
}

function addSnapshot(data: string, generation: number, importId?: string): void {
  const directory = join(data, 'snapshots', idOf(generation))
  mkdirSync(directory, { recursive: true })
  const source = { id: 1, hasKeys: false, appliedSequence: 100 * generation, files: [] }
  writeFileSync(join(directory, 'identities.json'), encodeIdentities([source], importId))
}

const generationsIn = (data: string) =>
  readdirSync(join(data, 'snapshots'))
    .map((id) => Number(id.split('-')[0]))
    .sort((left, right) => left - right)

/** A machine whose cluster has switched to a snapshot. */
function machine(dataDirectory: string, switched: number, retention: Retention | undefined) {
  const state = {
    isTeller: false,
    served: { servedId: idOf(switched), preparedId: undefined } as
      | Pick<ServedSnapshots, 'servedId' | 'preparedId'>
      | undefined,
    switchedId: idOf(switched),
    announcedId: idOf(switched),
    retention,
    written: 10_000,
    stored: 10_000,
    /** Up to where files of the journal can be removed at all. */
    oldUpTo: 0,
    keepFacts: () => {},
  }
  const done: string[] = []
  const entries: Entry[] = []
  const retaining = new Retaining({
    dataDirectory,
    name: 'a',
    journal: {
      facts: {
        get announced() {
          const by = state.isTeller ? 'a' : 'b'
          return { id: state.announcedId, by, sequence: 1, documents: [] }
        },
        announcements: [],
        get switchedId() {
          return state.switchedId
        },
        get retention() {
          return state.retention
        },
      },
      get last() {
        return { sequence: state.written, hash: '' }
      },
      hasOldFiles: (sequence) => sequence >= state.oldUpTo,
      async removeUpTo(sequence) {
        done.push(`removed up to ${sequence}`)
      },
    },
    async enter(entry) {
      entries.push(entry)
      if (entry.kind === 'switch') {
        const { id, importCount, unneededSequence } = entry
        Object.assign(state, { switchedId: id, retention: { importCount, unneededSequence } })
      }
      return entries.length
    },
    served: () => state.served,
    async stored() {
      done.push('stored')
      return state.stored
    },
    async keepFacts() {
      state.keepFacts()
      done.push('facts kept')
    },
    log,
  })
  return { state, retaining, done, entries }
}

t.test('snapshots are removed that the machine that switched does not keep', async (t) => {
  const data = directoryWith(t, [1, 2, 3, 4, 5])
  const { retaining, state, done } = machine(data, 5, { importCount: 3, unneededSequence: 300 })
  state.served = { servedId: idOf(4), preparedId: idOf(5) }
  await retaining.look()
  t.same(generationsIn(data), [1, 2, 3, 4, 5], 'not before this machine serves the new one')
  state.served = { servedId: idOf(5), preparedId: undefined }
  await retaining.look()
  t.same(generationsIn(data), [3, 4, 5])
  t.same(done, ['stored', 'facts kept', 'removed up to 300'])
  addSnapshot(data, 2)
  await retaining.look()
  t.same(generationsIn(data), [2, 3, 4, 5], 'once for each switch')
  t.equal(done.length, 3)
})

t.test('nothing is removed where nobody has said what need not stay', async (t) => {
  const data = directoryWith(t, [1, 2, 3, 4, 5])
  const { retaining, done } = machine(data, 5, undefined)
  await retaining.look()
  t.same(generationsIn(data), [1, 2, 3, 4, 5])
  t.same(done, [])
})

t.test('snapshots stay that are pinned, in an audience, or on their way', async (t) => {
  const data = directoryWith(t, [1, 2, 3, 4, 5, 6])
  await withDataLock(data, (lock) =>
    writePins(lock, { pins: [{ id: idOf(1), pinnedAt: 'today' }], accepted: [] }),
  )
  mkdirSync(audiencesDirectory(data))
  const { name } = audienceName(
    '0'.repeat(32),
    idOf(2),
    (Math.ceil(Date.now() / 1_000) + 60) * 1_000,
  )
  writeFileSync(join(audiencesDirectory(data), name), '')
  const { retaining, state, done } = machine(data, 6, { importCount: 1, unneededSequence: 600 })
  state.announcedId = idOf(3)
  state.served = { servedId: idOf(6), preparedId: idOf(4) }
  await retaining.look()
  t.same(generationsIn(data), [1, 2, 3, 4, 6])
  t.equal(done.at(-1), 'removed up to 100', 'what the oldest of them needs stays in the journal')
})

t.test('the journal stays as far as a machine or a snapshot needs it', async (t) => {
  for (const { told = 500, written = 10_000, stored = 10_000, upTo } of [
    { upTo: 400 },
    { told: 350, upTo: 350 },
    { written: 320, upTo: 320 },
    { stored: 310, upTo: 310 },
  ]) {
    const data = directoryWith(t, [4, 5])
    const retention = { importCount: 2, unneededSequence: told }
    const { retaining, state, done } = machine(data, 5, retention)
    Object.assign(state, { written, stored })
    await retaining.look()
    t.equal(done.at(-1), `removed up to ${upTo}`)
  }
})

t.test('nobody is asked where no file would go', async (t) => {
  const { retaining, state, done } = machine(directoryWith(t, [4, 5]), 5, {
    importCount: 2,
    unneededSequence: 500,
  })
  state.oldUpTo = 401
  await retaining.look()
  t.same(done, [])
})

t.test('nothing goes from the journal that is noted nowhere else', async (t) => {
  const data = directoryWith(t, [4, 5])
  const { retaining, state, done } = machine(data, 5, { importCount: 2, unneededSequence: 500 })
  state.keepFacts = () => {
    throw new Error('the disk is full')
  }
  await t.rejects(retaining.look(), { message: 'the disk is full' })
  t.same(done, ['stored'])
  await retaining.look()
  t.same(done, ['stored'], 'it is tried again later')
})

t.test('what a command has made current stays until it is decided on', async (t) => {
  const data = directoryWith(t, [1, 2, 3], 1)
  const { retaining } = machine(data, 3, { importCount: 1, unneededSequence: 0 })
  await retaining.look()
  t.same(generationsIn(data), [1, 3])
})

t.test('an import is not disturbed', async (t) => {
  const data = directoryWith(t, [1, 2, 3])
  const { retaining } = machine(data, 3, { importCount: 2, unneededSequence: 0 })
  await withDataLock(data, async () => {
    mkdirSync(join(data, 'snapshots', '4.tmp'))
    await retaining.look()
    t.same(generationsIn(data).length, 4)
    t.ok(existsSync(join(data, 'snapshots', '4.tmp')))
  })
  await retaining.look()
  t.same(generationsIn(data), [2, 3])
  t.notOk(existsSync(join(data, 'snapshots', '4.tmp')), 'what a dead one left goes, too')
})

t.test('a machine tells what it keeps', async (t) => {
  const told = async (data: string, generation: number) => {
    const { retaining, entries } = machine(data, generation, undefined)
    await retaining.enterSwitch(idOf(generation))
    return entries[0]
  }
  const data = directoryWith(t, [2, 3, 4])
  t.match(await told(data, 4), { importCount: 3, unneededSequence: 200 })
  addSnapshot(data, 5, idOf(4))
  const alike = { importCount: 3, unneededSequence: 200 }
  t.match(await told(data, 5), alike, 'a compaction stands for its import')
  const others = { importCount: 2, unneededSequence: 200 }
  t.match(await told(data, 2), others, 'those that somebody went back from are counted, too')
  t.match(await told(temporaryDirectory(t), 1), { importCount: 1, unneededSequence: 0 })
})

t.test('all stay where the machine that switches cannot tell which do', async (t) => {
  const data = directoryWith(t, [2, 3, 4])
  writeFileSync(join(data, 'pins.json'), '{')
  const { retaining, entries } = machine(data, 3, undefined)
  await retaining.enterSwitch(idOf(4))
  t.same(entries, [{ kind: 'switch', id: idOf(4), importCount: 1_000, unneededSequence: 0 }])
})

t.test(
  'what a command removes is told by the machine that announced what is served, once',
  async (t) => {
    const data = directoryWith(t, [2, 3, 4])
    const { retaining, state, entries } = machine(data, 3, {
      importCount: 2,
      unneededSequence: 200,
    })
    state.isTeller = true
    state.announcedId = idOf(4)
    rmSync(join(data, 'snapshots', idOf(2)), { recursive: true })
    await retaining.look()
    t.same(entries, [], 'not while machines are to switch')
    await retaining.enterSwitch(idOf(4))
    state.served = { servedId: idOf(4), preparedId: undefined }
    await retaining.look()
    t.same(entries, [{ kind: 'switch', id: idOf(4), importCount: 2, unneededSequence: 300 }])
    rmSync(join(data, 'snapshots', idOf(3)), { recursive: true })
    await retaining.look()
    await retaining.look()
    t.same(entries.slice(1), [
      { kind: 'switch', id: idOf(4), importCount: 1, unneededSequence: 400 },
    ])
  },
)

t.test('one that has fewer as it looks first has nobody remove any', async (t) => {
  const data = directoryWith(t, [4])
  const { retaining, state, entries } = machine(data, 4, { importCount: 3, unneededSequence: 200 })
  await retaining.look()
  state.isTeller = true
  await retaining.look()
  await retaining.look()
  t.same(entries, [])
})
