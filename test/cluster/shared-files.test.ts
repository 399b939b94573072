/**
 * Files of other machines, which the object store has, or gets from the machine that has them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type ClusterFiles, digestOfFile } from '../../src/cluster/nats/cluster-files.js'
import { Opened } from '../../src/cluster/nats/opened.js'
import { SharedFiles } from '../../src/cluster/shared-files.js'
import type { FileDigest } from '../../src/cluster/verified-file.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

type Store = Pick<ClusterFiles, 'get' | 'put'>

const NO_FILE = { sha256: '0'.repeat(64), byteLength: 5 }

/** A machine with a snapshot, and one without, which share a store. */
async function machines(t: Test, store: Store) {
  const [data, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  const id = await publishTest(data, 1, manyColumns(1_000))
  const files = new Opened(async () => store as ClusterFiles)
  const common = { files, log: silentLog }
  const giver = new SharedFiles({ ...common, dataDirectory: data, offered: async () => false })
  const taker = new SharedFiles({
    ...common,
    dataDirectory: other,
    offered: async (file) => await giver.offer(file),
  })
  return { directory: join(data, 'snapshots', id), giver, taker, to: join(other, 'fetched') }
}

t.test('a machine puts its files into the store for those that ask', async (t) => {
  const stored = new Map<string, Buffer>()
  const { directory, taker, to } = await machines(t, {
    async get({ sha256 }: FileDigest, path: string) {
      const bytes = stored.get(sha256)
      if (bytes !== undefined) writeFileSync(path, bytes)
      return bytes !== undefined
    },
    async put(path: string, { sha256 }: FileDigest) {
      stored.set(sha256, readFileSync(path))
    },
  })
  const names = readdirSync(directory).filter((name) => name.endsWith('.shard'))
  t.ok(names.length > 0)
  for (const name of names) {
    const path = join(directory, name)
    t.equal(await taker.get(await digestOfFile(path), to, () => {}), true)
    t.ok(readFileSync(to).equals(readFileSync(path)))
  }
  t.equal(await taker.get(NO_FILE, to, () => {}), false)
})

const fails = async () => {
  throw new Error('timeout')
}

t.test('a store that does not answer is an error of what is fetched', async (t) => {
  const { taker, to } = await machines(t, { get: fails, put: fails })
  await t.rejects(
    taker.get(NO_FILE, to, () => {}),
    { message: 'timeout' },
  )
})
