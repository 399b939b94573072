import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limits } from '../../../src/limits.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import { beginSnapshot } from '../../../src/snapshot/publish/begin.js'
import type { Draft } from '../../../src/snapshot/publish/draft.js'
import { withDataLock } from '../../../src/snapshot/publish/lock.js'
import { columnsOf, manyColumns } from '../../support/data/columns.js'
import { fingerprint, publishTest, silentLog } from '../../support/data/snapshots.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

/** Enough that threads are started for them. */
const MANY = limits.threadlessRecipientCount
const many = manyColumns(MANY)

function drafted<Result>(data: string, work: (draft: Draft) => Promise<Result>): Promise<Result> {
  return withDataLock(data, async (lock) => {
    const draft = await beginSnapshot(lock, { log: silentLog })
    try {
      return await work(draft)
    } finally {
      await draft.discard()
    }
  })
}

const put = (draft: Draft, id: number, columns: RecipientColumns) =>
  draft.put({ id, label: `Source ${id}` }, columns)

async function countsIn(data: string): Promise<[id: number, recipientCount: number][]> {
  const { sources } = await openSnapshot(data)
  return sources.map(({ id, recipientCount }) => [id, recipientCount])
}

const snapshotPath = (data: string, id: string, file = '') => join(data, 'snapshots', id, file)

function temporaries(data: string): string[] {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.tmp$|import\.lock/.test(name))
}

t.test('a draft takes several sources and carries over the others', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 3, manyColumns(30))
  await publishTest(data, 2, manyColumns(20))
  const { snapshotId } = await drafted(data, async (draft) => {
    await put(draft, 9, manyColumns(90))
    await put(draft, 2, manyColumns(21))
    await put(draft, 1, manyColumns(10))
    return await draft.publish()
  })
  const counts = [
    [1, 10],
    [2, 21],
    [3, 30],
    [9, 90],
  ]
  t.same(await countsIn(data), counts)
  t.match(snapshotId, /^000003-/, 'in one snapshot')
  t.same(temporaries(data), [])
})

t.test('the last of several puts of a source is the one that counts', async (t) => {
  const data = t.testdir({})
  const { snapshotId } = await drafted(data, async (draft) => {
    await put(draft, 1, manyColumns(50))
    await put(draft, 1, columnsOf([]))
    await put(draft, 1, manyColumns(5))
    return await draft.publish()
  })
  t.same(await countsIn(data), [[1, 5]])
  t.same(readdirSync(snapshotPath(data, snapshotId)).sort(), [
    '1-0000.shard',
    'identities.json',
    'manifest.json',
    'origin.json',
    'repeats',
  ])
})

t.test('a draft without a source is a snapshot like the one before', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(5))
  await drafted(data, (draft) => draft.publish())
  t.same(await countsIn(data), [[1, 5]])
})

t.test(
  'a draft that is discarded, once or twice, leaves nothing and changes nothing',
  async (t) => {
    const data = t.testdir({})
    await publishTest(data, 1, manyColumns(5))
    const before = fingerprint(data)
    await drafted(data, async (draft) => {
      await put(draft, 2, many)
      await draft.discard()
      await draft.discard()
    })
    t.same(fingerprint(data), before)
  },
)

t.test('phones that repeat over sources, new and carried over, are found', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(10))
  const ids = await Promise.all([
    // 5 to 14, of which 5 to 9 are there already.
    publishTest(data, 2, manyColumns(10, 5)),
  ])
  const file = (id: string) => readFileSync(snapshotPath(data, id, 'repeats'))
  await publishTest(data, 2, manyColumns(10, 5_000))
  const { snapshotId } = await drafted(data, async (draft) => {
    await put(draft, 2, manyColumns(10, 5))
    return await draft.publish()
  })
  t.ok(file(snapshotId).equals(file(ids[0])), 'as if published one by one')
  await publishTest(data, 2, manyColumns(10, 5_000))
  const { id } = await openSnapshot(data)
  t.ok(file(id).length < file(snapshotId).length, 'none is left without the source')
})

t.test('a put that fails leaves the source as it was, and the draft goes on', async (t) => {
  for (const columns of [manyColumns(50), many]) {
    const data = temporaryDirectory(t)
    await publishTest(data, 1, manyColumns(5))
    await drafted(data, async (draft) => {
      await put(draft, 2, manyColumns(6))
      const inTheWay = snapshotPath(data, '2.tmp', '1-0000.shard')
      writeFileSync(inTheWay, 'in the way')
      await t.rejects(put(draft, 1, columns), {
        code: 'Failed',
        message: /the current one stays: EEXIST/,
      })
      t.notOk(existsSync(inTheWay))
      await put(draft, 3, columns)
      await draft.publish()
    })
    const counts = [
      [1, 5],
      [2, 6],
      [3, columns.recipientCount],
    ]
    t.same(await countsIn(data), counts)
  }
})

t.test('what the disk does not give back as it was written is not published', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(5))
  const before = fingerprint(data)
  for (const columns of [manyColumns(50), many]) {
    await drafted(data, async (draft) => {
      await put(draft, 2, columns)
      damage(snapshotPath(data, '2.tmp', '2-0000.shard'))
      await t.rejects(draft.publish(), {
        code: 'SnapshotCorrupt',
        message: /the current one stays: .*2-0000\.shard/,
      })
    })
    t.same(fingerprint(data), before)
  }
})

t.test('sources of a damaged snapshot are not carried over, but may be put again', async (t) => {
  const damages: [what: RegExp, damage: (data: string, id: string) => void][] = [
    [/1-0000\.shard/, (data, id) => damage(snapshotPath(data, id, '1-0000.shard'))],
    [/1-0000\.shard is missing/, (data, id) => rmSync(snapshotPath(data, id, '1-0000.shard'))],
    [/manifest\.json/, (data, id) => damage(snapshotPath(data, id, 'manifest.json'))],
    [/manifest\.json/, (data, id) => rmSync(snapshotPath(data, id, 'manifest.json'))],
    [/CURRENT/, (data) => writeFileSync(join(data, 'CURRENT'), 'what?')],
  ]
  for (const [what, damageIt] of damages) {
    await t.test(String(what), async (t) => {
      const data = temporaryDirectory(t)
      await publishTest(data, 1, manyColumns(100))
      damageIt(data, await publishTest(data, 2, manyColumns(200)))
      await refused(t, data, { code: 'SnapshotCorrupt', message: what })
    })
  }
})

t.test('without CURRENT nothing is published without the sources that are there', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(100))
  await publishTest(data, 2, manyColumns(200))
  rmSync(join(data, 'CURRENT'))
  await refused(t, data, { code: 'SnapshotMissing', message: /no CURRENT in .* 000002-/ })
})

/** Expects that one of the sources 1 and 2 cannot be published alone, and both can. */
async function refused(t: Test, data: string, error: { code: string; message: RegExp }) {
  const before = fingerprint(data)
  await t.rejects(publishTest(data, 2, manyColumns(1)), error)
  await t.rejects(publishTest(data, 3, manyColumns(1)), {
    ...error,
    message: /sources? 1.* cannot be carried over.*hickory rollback.*import th(is|ese) again/,
  })
  t.same(fingerprint(data), before)
  await drafted(data, async (draft) => {
    await put(draft, 2, manyColumns(20))
    await put(draft, 1, manyColumns(10))
    await draft.publish()
  })
  const counts = [
    [1, 10],
    [2, 20],
  ]
  t.same(await countsIn(data), counts)
}

function damage(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >>> 1] ^= 1
  writeFileSync(path, bytes)
}

t.test('nobody listens for signals once drafts have ended', async (t) => {
  const data = t.testdir({})
  const count = () => process.listenerCount('SIGINT') + process.listenerCount('exit')
  await publishTest(data, 1, manyColumns(1))
  const before = count()
  await publishTest(data, 1, manyColumns(1))
  await drafted(data, (draft) => draft.discard())
  t.equal(count(), before)
  await withDataLock(data, async (lock) => {
    const underLock = process.listenerCount('SIGINT')
    const draft = await beginSnapshot(lock, { log: silentLog, endsOnSignal: false })
    t.equal(process.listenerCount('SIGINT'), underLock)
    await draft.discard()
  })
})

t.test('a directory that cannot be made is said', async (t) => {
  const data = t.testdir({ snapshots: 'a file in the way' })
  await withDataLock(data, async (lock) => {
    await t.rejects(beginSnapshot(lock, { log: silentLog }), {
      code: 'Failed',
      message: /snapshots is there already and is no directory/,
    })
  })
  t.ok(statSync(join(data, 'snapshots')).isFile())
})

t.test('what cannot be made current is taken back, and does not go by its name', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(5))
  const before = fingerprint(data)
  await drafted(data, async (draft) => {
    await put(draft, 2, manyColumns(6))
    // A directory that is not empty is neither removed nor written over.
    const inTheWay = join(data, 'CURRENT.tmp')
    mkdirSync(join(inTheWay, 'x'), { recursive: true })
    await t.rejects(draft.publish(), { message: /the current one stays: .*CURRENT\.tmp/ })
    rmSync(inTheWay, { recursive: true })
  })
  t.same(fingerprint(data), before)
})
