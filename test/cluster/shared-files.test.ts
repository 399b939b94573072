/**
 * Files of other machines where the object store has none, takes none or does not answer: they come from the machines.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { lentPath } from '../../src/cluster/lent-files.js'
import { type ClusterFiles, digestOfFile } from '../../src/cluster/nats/cluster-files.js'
import { Opened } from '../../src/cluster/nats/opened.js'
import { SharedFiles } from '../../src/cluster/shared-files.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

type Store = Pick<ClusterFiles, 'get' | 'put'>

/** A machine with a snapshot, and one without, which share a store. */
async function machines(t: Test, store: Store) {
  const [data, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  const id = await publishTest(data, 1, manyColumns(1_000))
  const files = new Opened(async () => store as ClusterFiles)
  const alone = { offered: async () => false, machines: () => [], askPiece: async () => undefined }
  const giver = new SharedFiles({ dataDirectory: data, files, log: silentLog, ...alone })
  const taker = new SharedFiles({
    dataDirectory: other,
    files,
    log: silentLog,
    offered: async (file) => await giver.offer(file).catch(() => false),
    machines: () => ['giver'],
    askPiece: async (_, file, offset) => await giver.piece(file, offset),
  })
  return { data, id, giver, taker, to: join(other, 'fetched') }
}

const fails = async () => {
  throw new Error('timeout')
}

t.test('a file comes from a machine, whatever the store is like', async (t) => {
  const stores: readonly Store[] = [
    { get: async () => false, put: fails },
    { get: fails, put: fails },
    { get: fails, put: async () => {} },
  ]
  for (const store of stores) {
    const { data, id, taker, to } = await machines(t, store)
    const directory = join(data, 'snapshots', id)
    const names = readdirSync(directory).filter((name) => name.endsWith('.shard'))
    t.ok(names.length > 0)
    for (const name of names) {
      const path = join(directory, name)
      t.equal(await taker.get(await digestOfFile(path), to, () => {}), true)
      t.ok(readFileSync(to).equals(readFileSync(path)))
    }
    const nobodys = { sha256: '0'.repeat(64), byteLength: 5 }
    t.equal(await taker.get(nobodys, to, () => {}), false)
  }
})

t.test('so does one that was made for a machine that begins', async (t) => {
  const { data, giver, taker, to } = await machines(t, { get: async () => false, put: fails })
  const directory = lentPath(data, 'of-a')
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'store')
  writeFileSync(path, 'all of it')
  const digest = await digestOfFile(path)
  t.equal(await giver.tryToPut(path, digest), false)
  t.equal(await taker.get(digest, to, () => {}), false)
  await giver.lent.lend(directory, new Map([[digest.sha256, path]]))
  t.equal(await taker.get(digest, to, () => {}), true)
  t.equal(readFileSync(to, 'utf8'), 'all of it')
})

t.test('a file that is not there is no matter of the store', async (t) => {
  const put = async () => {
    throw Object.assign(new Error('gone'), { code: 'ENOENT' })
  }
  const { giver } = await machines(t, { get: async () => false, put })
  await t.rejects(giver.tryToPut('/none', { sha256: '0'.repeat(64), byteLength: 5 }), {
    code: 'ENOENT',
  })
})
