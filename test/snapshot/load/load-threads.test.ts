import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createArenaPool } from '../../../src/shard/arena-pool.js'
import { attachShard } from '../../../src/shard/layout.js'
import { loadSnapshot } from '../../../src/snapshot/load/load.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { manyColumns } from '../../support/data/columns.js'
import { publishTest } from '../../support/data/snapshots.js'

const loaderUrl = new URL('../../../workers/load.js', import.meta.url)

t.test('threads load what is loaded without them, into the same memory again', async (t) => {
  const data = t.testdir({})
  for (const source of [1, 2, 3]) await publishTest(data, source, manyColumns(300, 100 * source))
  const expected = await openSnapshot(data)
  const arenas = createArenaPool(1)
  const progress: [number, number][] = []
  const onProgress = (done: number, total: number) => void progress.push([done, total])
  const found = await loadSnapshot(data, expected.id, arenas, { loaderUrl, onProgress })
  t.same(found.sources, expected.sources)
  t.equal(found.id, expected.id)
  t.equal(found.arenas.length, 1)
  t.ok(progress.length > 3)
  t.equal(progress.at(-1)?.[0], progress.at(-1)?.[1])
  for (const [at, shard] of found.shards.entries()) {
    t.equal(shard.arena, found.arenas[0])
    t.ok(shard.phoneTies.ids.length > 0)
    t.ok(shard.phoneTies.ids.buffer instanceof SharedArrayBuffer)
    const { arena: _, ...columns } = attachShard(shard)
    const { arena: __, ...others } = attachShard(expected.shards[at])
    t.strictSame(columns, others)
  }
  for (const { marks } of found.shards) marks?.fill(-1)
  arenas.giveBack(found.arenas.map((arena) => ({ arena })))
  const again = await loadSnapshot(data, expected.id, arenas, { loaderUrl })
  t.equal(again.arenas[0], found.arenas[0])
  t.ok(again.shards.every(({ marks }) => marks?.every((word) => word === 0)))
})

t.test('what is wrong with one file is said, and its memory can be used again', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(400))
  const bad = await publishTest(data, 2, manyColumns(300))
  const good = await publishTest(data, 2, manyColumns(200))
  appendFileSync(join(data, 'snapshots', bad, '2-0000.shard'), 'x')
  const arenas = createArenaPool(1)
  const load = (id: string) => loadSnapshot(data, id, arenas, { loaderUrl })
  const { arenas: before } = await load(good)
  arenas.giveBack(before.map((arena) => ({ arena })))
  const expected = { code: 'SnapshotCorrupt', message: /2-0000\.shard: found \d+ bytes/ }
  await t.rejects(load(bad), expected)
  await t.rejects(load('000009-00000000'), { code: 'SnapshotCorrupt', message: /ENOENT/ })
  const { arenas: after, shards } = await load(good)
  t.equal(after[0], before[0])
  t.equal(shards[1].recipientCount, 200)
})

t.test('a thread that fails fails the load', async (t) => {
  const data = t.testdir({})
  const id = await publishTest(data, 1, manyColumns(300))
  const loaderUrl = new URL('../../../workers/none.js', import.meta.url)
  const arenas = createArenaPool(1)
  await t.rejects(loadSnapshot(data, id, arenas, { loaderUrl }), {
    code: 'Failed',
    message: /none\.js/,
  })
  t.equal((await loadSnapshot(data, id, arenas)).id, id)
})

t.test('loading is given up at a word, on threads and without', async (t) => {
  const data = t.testdir({})
  const id = await publishTest(data, 1, manyColumns(300))
  for (const options of [{ loaderUrl }, {}]) {
    const load = (stopping: AbortSignal) =>
      loadSnapshot(data, id, createArenaPool(1), { ...options, stopping })
    const stopping = new AbortController()
    const loading = load(stopping.signal)
    stopping.abort()
    await t.rejects(loading, { message: /loading was given up/ })
    await t.rejects(load(AbortSignal.abort()), { message: /loading was given up/ })
  }
})

t.test('where the system gives no thread, the memory is given back', async (t) => {
  const data = t.testdir({})
  const id = await publishTest(data, 1, manyColumns(300))
  const arenas = createArenaPool(1)
  const { arenas: before } = await loadSnapshot(data, id, arenas)
  arenas.giveBack(before.map((arena) => ({ arena })))
  const noThread = new URL('http://localhost/load.js')
  await t.rejects(loadSnapshot(data, id, arenas, { loaderUrl: noThread }))
  t.equal((await loadSnapshot(data, id, arenas)).arenas[0], before[0])
})
