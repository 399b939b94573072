/**
 * Files of other machines, which the object store has, or gets from the machine that has them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ClusterFiles } from '../../src/cluster/nats/cluster-files.js'
import { Opened } from '../../src/cluster/nats/opened.js'
import { SharedFiles } from '../../src/cluster/shared-files.js'
import { digestOfFile, type FileDigest } from '../../src/cluster/verified-file.js'
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
  const away = { files, calls: { ask: () => Promise.reject(new Error('away')) } }
  const common = { others: () => ['away', 'giver'], log: silentLog }
  const giver = new SharedFiles({ ...common, nats: away, dataDirectory: data })
  const ask = async (name: string, question: unknown) => {
    if (name !== 'giver') return await away.calls.ask()
    return { isDone: await giver.offer((question as { file: FileDigest }).file) }
  }
  const taker = new SharedFiles({
    ...common,
    nats: { files, calls: { ask } },
    dataDirectory: other,
  })
  return { directory: join(data, 'snapshots', id), taker, to: join(other, 'fetched') }
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
  const names = readdirSync(directory)
  t.ok(names.length > 1)
  for (const name of names) {
    const path = join(directory, name)
    await taker.get(await digestOfFile(path), to)
    t.ok(readFileSync(to).equals(readFileSync(path)))
  }
  await t.rejects(taker.get(NO_FILE, to), { message: 'no machine that is there has fetched' })
})

const fails = async () => {
  throw new Error('timeout')
}

t.test('a store that does not answer is an error of what is fetched', async (t) => {
  const { taker, to } = await machines(t, { get: fails, put: fails })
  await t.rejects(taker.get(NO_FILE, to), { message: 'timeout' })
})
