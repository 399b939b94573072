/**
 * Which snapshot a machine announces that writes, and what it makes current: what others have made so is not taken back.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Entry } from '../../src/cluster/entries.js'
import type { SharedFiles } from '../../src/cluster/shared-files.js'
import { SnapshotDesk } from '../../src/cluster/snapshot-desk.js'
import { createLog } from '../../src/log.js'
import { readCurrent } from '../../src/snapshot/directory.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** A machine of a cluster that has switched to the first of two snapshots, which are both on its disk. */
async function machine(t: Test) {
  const data = temporaryDirectory(t)
  const first = await publishTest(data, 1, manyColumns(10))
  const second = await publishTest(data, 1, manyColumns(20))
  const name = (id: string) => writeFileSync(join(data, 'CURRENT'), `${id}\n`)
  name(first)
  const state = {
    isWriter: false,
    announcedId: first,
    switchedId: first,
    committed: 9,
    epochSequence: 5,
  }
  const entries: Entry[] = []
  const announced = () => ({ id: state.announcedId, documents: [] })
  const none: Pick<SharedFiles, 'get' | 'tryToPut'> = {
    get: async () => false,
    async tryToPut() {
      Object.assign(state, meanwhile)
      return true
    },
  }
  /** What becomes of the cluster while files of a snapshot are on their way. */
  const meanwhile: Partial<typeof state> = {}
  const wanted: (string | undefined)[] = []
  const desk = new SnapshotDesk({
    dataDirectory: data,
    journal: {
      announced,
      committedSnapshot: announced,
      switchedId: () => state.switchedId,
      retention: () => undefined,
      committed: () => state.committed,
      epochSequence: () => state.epochSequence,
      hasOldFiles: () => false,
      async removeUpTo() {},
    },
    files: none,
    reports: () => [],
    placement: () => undefined,
    isWriter: () => state.isWriter,
    async enter(entry) {
      entries.push(entry)
      if (entry.kind === 'snapshot') state.announcedId = entry.id
      if (entry.kind === 'switch') state.switchedId = entry.id
    },
    served: () => ({ servedId: state.switchedId, preparedId: undefined }),
    stored: async () => 9,
    async keepTail() {},
    onWanted: ({ wantedId }) => wanted.push(wantedId),
    log: createLog('silent'),
  })
  t.teardown(() => desk.stop())
  const look = async () => {
    // One look at a time: another one follows the one that is under way.
    for (let count = 0; count < 3; count++) {
      desk.look()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const kinds = () =>
    entries.map((entry) => ('id' in entry ? `${entry.kind} ${entry.id}` : entry.kind))
  return { data, first, second, name, state, kinds, look, meanwhile, wanted }
}

t.test('a machine that begins to write behind a switch announces nothing', async (t) => {
  const { data, second, state, kinds, look } = await machine(t)
  await look()
  // The machine that wrote has switched, and died before this one has looked.
  Object.assign(state, { isWriter: true, announcedId: second, switchedId: second })
  await look()
  t.same(kinds(), [])
  t.equal(await readCurrent(data), second)
})

t.test('nor while it does not know of all that was written before it', async (t) => {
  const { data, first, second, state, kinds, look } = await machine(t)
  await look()
  Object.assign(state, { isWriter: true, committed: 4, announcedId: second })
  await look()
  t.same(
    kinds().filter((kind) => kind.startsWith('snapshot')),
    [],
  )
  Object.assign(state, { committed: 5, switchedId: second })
  await look()
  t.same(
    kinds().filter((kind) => kind === `snapshot ${first}`),
    [],
  )
  t.equal(await readCurrent(data), second)
})

t.test('the switch that another machine has begun is finished, and stays', async (t) => {
  const { data, second, state, kinds, look } = await machine(t)
  await look()
  Object.assign(state, { isWriter: true, announcedId: second })
  await look()
  t.same(kinds(), [`switch ${second}`])
  t.equal(await readCurrent(data), second)
  await look()
  t.equal(kinds().length, 1)
})

t.test('what somebody makes current there is announced, also an earlier one', async (t) => {
  const { data, first, second, name, state, kinds, look } = await machine(t)
  state.isWriter = true
  await look()
  t.same(kinds(), [])
  name(second)
  await look()
  t.same(kinds(), [`snapshot ${second}`, `switch ${second}`])
  name(first)
  await look()
  t.same(kinds().slice(2), [`snapshot ${first}`, `switch ${first}`])
  t.equal(await readCurrent(data), first)
})

t.test('nothing is announced where another machine has announced one meanwhile', async (t) => {
  const { first, second, name, state, kinds, look, meanwhile } = await machine(t)
  state.isWriter = true
  await look()
  // By the end of it, this machine writes again.
  Object.assign(meanwhile, { epochSequence: 7, announcedId: first, switchedId: 'of another' })
  name(second)
  await look()
  t.same(
    kinds().filter((kind) => kind === `snapshot ${second}`),
    [],
  )
})

t.test(
  'one is announced all the same where this machine writes in another epoch by then',
  async (t) => {
    const { second, name, state, kinds, look, meanwhile } = await machine(t)
    state.isWriter = true
    await look()
    meanwhile.epochSequence = 7
    name(second)
    await look()
    t.same(kinds(), [`snapshot ${second}`, `switch ${second}`])
  },
)

t.test('nothing is announced where what was switched to is not here', async (t) => {
  const { second, name, state, kinds, look } = await machine(t)
  name(second)
  Object.assign(state, { isWriter: true, switchedId: 'not-here' })
  await look()
  t.notOk(kinds().includes(`snapshot ${second}`))
})

t.test('what is not here is not to be prepared', async (t) => {
  const { first, state, look, wanted } = await machine(t)
  await look()
  state.announcedId = 'not-here'
  await look()
  t.same(wanted, [first])
})
