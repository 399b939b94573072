import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { attachShard } from '../../src/shard/layout.js'
import { loadOnThread } from '../../src/snapshot/load-thread.js'
import { openSnapshot, shardRoomBytes } from '../../src/snapshot/open.js'
import { manyColumns } from '../support/columns.js'
import { publishTest } from '../support/snapshots.js'

const loader = new URL('../../workers/load.js', import.meta.url)
const goOn = () => new AbortController().signal

t.test('a thread loads what is loaded without one, into the rooms that it is given', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(300))
  const id = await publishTest(data, 2, manyColumns(200, 1000))
  const expected = await openSnapshot(data)
  const arenas = createArenaPool(1)
  const rooms = arenas.take(await shardRoomBytes(data, id))
  const found = await loadOnThread(loader, { dataDirectory: data, id, rooms }, goOn())
  t.same(found.sources, expected.sources)
  t.equal(found.id, id)
  for (const [at, shard] of found.shards.entries()) {
    t.equal(shard.arena, rooms[at].arena)
    const { arena: _, ...columns } = attachShard(shard)
    const { arena: __, ...others } = attachShard(expected.shards[at])
    t.strictSame(columns, others)
  }
})

t.test('what is wrong with it is said, and its rooms can be used again', async (t) => {
  const data = t.testdir({})
  const bad = await publishTest(data, 1, manyColumns(300))
  const good = await publishTest(data, 1, manyColumns(200))
  appendFileSync(join(data, 'snapshots', bad, '1-0000.shard'), 'x')
  const rooms = createArenaPool(1).take([100_000])
  const load = (id: string) => loadOnThread(loader, { dataDirectory: data, id, rooms }, goOn())
  await t.rejects(load(bad), { code: 'Failed', message: /1-0000\.shard: found \d+ bytes/ })
  await t.rejects(load('000009-00000000'), { message: /ENOENT/ })
  t.equal((await load(good)).shards[0].recipientCount, 200)
})

t.test('a thread that is told to stop gives up', async (t) => {
  const data = t.testdir({})
  const id = await publishTest(data, 1, manyColumns(300))
  const stopping = new AbortController()
  const rooms = createArenaPool(1).take([100_000])
  const loading = loadOnThread(loader, { dataDirectory: data, id, rooms }, stopping.signal)
  stopping.abort()
  await t.rejects(loading, { message: 'the service is stopping' })
  const late = loadOnThread(loader, { dataDirectory: data, id, rooms }, AbortSignal.abort())
  await t.rejects(late, { message: 'the service is stopping' })
})
