/**
 * Files in a real object store of NATS: whoever fetches one gets what its name says, or hears that it is not there.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Objm } from '@nats-io/obj'
import t, { type Test } from 'tap'
import { ClusterFiles } from '../../../src/cluster/nats/cluster-files.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { Opened } from '../../../src/cluster/nats/opened.js'
import { SharedFiles } from '../../../src/cluster/shared-files.js'
import { announcedSnapshot } from '../../../src/cluster/snapshot-files.js'
import { DigestFault, digestOfFile, type FileDigest } from '../../../src/cluster/verified-file.js'
import { limits } from '../../../src/limits.js'
import { manyColumns } from '../../support/data/columns.js'
import { publishTest, silentLog } from '../../support/data/snapshots.js'
import { seededRandom } from '../../support/random/world.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { until } from '../../support/service/until.js'
import { flipBit } from '../faults/flip-bit.js'
import { connected } from '../support/connected.js'
import { startNatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)
const random = seededRandom(seed)
const names = namesOf('test')

// Long enough for a busy machine: nothing here takes a part of it.
Object.assign(limits, { fileSilentMs: 2_000 })

async function storing(t: Test, server: string) {
  const nats = await startNatsServer(t, { server })
  const connection = await connected(t, nats)
  const directory = temporaryDirectory(t)
  const files = await ClusterFiles.open(connection, names)
  const make = async (bytes: Uint8Array) => {
    const path = join(directory, 'made')
    writeFileSync(path, bytes)
    return { path, bytes, digest: await digestOfFile(path) }
  }
  const to = join(directory, 'fetched')
  /** Puts other bytes under the name of a file. */
  const forge = async ({ sha256 }: FileDigest, bytes: Uint8Array) => {
    const stores = new Objm(jetstream(connection.nats))
    await (await stores.open(names.files)).putBlob({ name: sha256 }, bytes)
  }
  return { nats, connection, directory, files, make, to, forge }
}

type Storing = Awaited<ReturnType<typeof storing>>

/** Flips a bit of what the server has on its disk. */
async function damage({ nats, connection }: Storing): Promise<void> {
  await nats.stop()
  const all = readdirSync(nats.store, { recursive: true, encoding: 'utf8' })
  const blocks = all.filter((path) => /OBJ_hickory_test_files\/msgs\/\d+\.blk$/.test(path))
  flipBit(join(nats.store, random.pick(blocks)), random)
  await nats.start()
  await until(() => connection.isUp)
}

/** Asks no machine. */
const ALONE = { others: () => [], log: silentLog }

const calls = { ask: () => Promise.reject(new Error('nobody is there')) }

const NO_FILE = { sha256: '0'.repeat(64), byteLength: 5 }

withEachNats(t, async (t, server) => {
  t.test('a file is fetched in pieces, as it was put', async (t) => {
    const { files, make, to } = await storing(t, server)
    for (const byteCount of [0, 1, 524_288, 524_289, 5_000_000]) {
      const { path, bytes, digest } = await make(randomBytes(byteCount))
      t.equal(await files.has(digest), false)
      t.equal(await files.get(digest, to), false)
      await files.put(path, digest)
      t.equal(await files.has(digest), true)
      const pieces: number[] = []
      t.equal(await files.get(digest, to, (count) => pieces.push(count)), true)
      t.ok(readFileSync(to).equals(bytes), `${byteCount} bytes`)
      t.equal(pieces.length, Math.max(1, Math.ceil(byteCount / 524_288)))
    }
  })

  t.test('a file that is there is not put again, and one that was removed is', async (t) => {
    const { files, make, to } = await storing(t, server)
    const { path, bytes, digest } = await make(randomBytes(1_000))
    await files.put(path, digest)
    const [first] = await files.list()
    t.match(first, digest)
    t.equal(await files.has({ ...digest, byteLength: 999 }), false)
    // Nothing is read.
    await files.put(`${path}-none`, digest)
    t.same(await files.list(), [first])
    await files.remove(digest)
    t.same(await files.list(), [])
    t.equal(await files.has(digest), false)
    t.equal(await files.get(digest, to), false)
    await files.remove(digest)
    await files.remove(NO_FILE)
    await files.put(path, digest)
    t.equal(await files.get(digest, to), true)
    t.ok(readFileSync(to).equals(bytes))
  })

  t.test('what is something else than its name says is refused, and removed', async (t) => {
    const { files, make, to, forge } = await storing(t, server)
    const { path, bytes, digest } = await make(randomBytes(1_200_000))
    const flipped = Buffer.from(bytes)
    flipped[700_000] ^= 1
    for (const forged of [
      flipped,
      bytes.subarray(1),
      Buffer.concat([bytes, bytes]),
      Buffer.alloc(0),
    ]) {
      await forge(digest, forged)
      t.equal(await files.has(digest), false)
      await t.rejects(files.get(digest, to), { message: /had other bytes under/ })
      t.equal(existsSync(to), false)
      t.equal(await files.has(digest), false)
      await files.put(path, digest)
      t.equal(await files.get(digest, to), true)
      rmSync(to)
      await files.remove(digest)
    }
  })

  t.test('damage on the disk of a server is found, and the file put anew', async (t) => {
    const all = await storing(t, server)
    const { files, make, to } = all
    let damagedCount = 0
    for (let round = 0; round < 2; round++) {
      const { path, bytes, digest } = await make(randomBytes(3_000_000))
      await files.put(path, digest)
      await damage(all)
      // Two at once, who must not take each other's copy away.
      const fetchOne = async (to: string) => {
        for (let attempt = 0; attempt < 4; attempt++) {
          const isThere = await files.get(digest, to).catch((fault) => {
            t.type(fault, DigestFault)
            return false
          })
          if (isThere) return
          damagedCount++
          await files.put(path, digest)
        }
        t.fail('it is not there although it was put')
      }
      await Promise.all([fetchOne(to), fetchOne(`${to}-too`)])
      for (const copy of [to, `${to}-too`]) t.ok(readFileSync(copy).equals(bytes))
      await files.remove(digest)
    }
    t.ok(damagedCount > 0)
  })

  t.test('machines give each other what a store has lost, and refuse what it forges', async (t) => {
    const { connection, files, make, to, forge } = await storing(t, server)
    const [data, other] = [temporaryDirectory(t), temporaryDirectory(t)]
    const id = await publishTest(data, 1, manyColumns(1_000))
    const opened = new Opened(() => ClusterFiles.open(connection, names))
    const alone = { ...ALONE, nats: { files: opened, calls } }
    const giver = new SharedFiles({ ...alone, dataDirectory: data })
    let offerCount = 0
    const ask = async (_: string, question: unknown) => {
      offerCount++
      return { isDone: await giver.offer((question as { file: FileDigest }).file) }
    }
    const nats = { files: opened, calls: { ask } }
    const giving = { dataDirectory: other, nats, others: () => ['giver'], log: silentLog }
    const taker = new SharedFiles(giving)
    const path = join(data, 'snapshots', id, '1-0000.shard')
    const digest = await digestOfFile(path)
    const fetched = async () => {
      await taker.get(digest, to)
      t.ok(readFileSync(to).equals(readFileSync(path)))
    }
    await fetched()
    t.equal(offerCount, 1)
    await fetched()
    t.equal(offerCount, 1, 'it was there')
    await forge(digest, randomBytes(digest.byteLength))
    await fetched()
    t.equal(offerCount, 2)
    await files.remove(digest)
    await fetched()
    t.equal(offerCount, 3)
    // An operator, or a disk, takes the whole store away.
    await connection.nats.request(`$JS.API.STREAM.DELETE.OBJ_${names.files}`)
    await t.rejects(taker.get(digest, to))
    await fetched()
    t.equal(offerCount, 4, 'the store is made anew')
    await t.rejects(taker.get(NO_FILE, to), { message: /^no machine that is there has/ })
    // One that is elsewhere, as the file of an audience.
    const { path: made, bytes, digest: madeDigest } = await make(randomBytes(1_000))
    t.equal(await giver.offer(madeDigest), false)
    t.equal(await giver.offer(madeDigest, join(data, 'none')), false)
    bytes[500] ^= 1
    writeFileSync(`${made}-damaged`, bytes)
    t.equal(await giver.offer(madeDigest, `${made}-damaged`), false)
    t.equal(await files.has(madeDigest), false)
    t.equal(await giver.offer(madeDigest, made), true)
    t.equal(await files.has(madeDigest), true)
    t.equal(await giver.isKept(madeDigest), false, 'on one server alone')
  })

  t.test('a file that the store does not take stays open no longer', async (t) => {
    const { connection, files, make } = await storing(t, server)
    const manager = await jetstreamManager(connection.nats)
    await manager.streams.update(`OBJ_${names.files}`, { max_bytes: 1_000 })
    const { path, digest } = await make(randomBytes(8 * 1_024 * 1_024))
    await t.rejects(files.put(path, digest))
    const isOpen = () =>
      readdirSync('/proc/self/fd').some((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === path
        } catch {
          return false
        }
      })
    await until(() => !isOpen())
    t.equal(isOpen(), false)
  })

  t.test('files go when their time is over, unless a snapshot has them', async (t) => {
    const { connection, files, make, to } = await storing(t, server)
    const data = temporaryDirectory(t)
    const id = await publishTest(data, 1, manyColumns(1_000))
    const opened = new Opened(() => ClusterFiles.open(connection, names))
    const shared = new SharedFiles({
      dataDirectory: data,
      nats: { files: opened, calls },
      ...ALONE,
    })
    const needed: FileDigest[] = []
    for (const name of readdirSync(join(data, 'snapshots', id))) {
      const digest = await digestOfFile(join(data, 'snapshots', id, name))
      if (await shared.offer(digest)) needed.push(digest)
    }
    t.ok(needed.length > 1)
    const { path, digest } = await make(randomBytes(1_000))
    await files.put(path, digest)
    const { now } = Date
    let laterMs = limits.sharedFileKeptMs - 60_000
    t.intercept(Date, 'now', { value: () => now() + laterMs })
    const { documents } = await announcedSnapshot(data, id)
    const announced = { sequence: 1, by: 'a', id, documents }
    const facts = { announced, switchedId: id }
    await shared.clear(facts, [])
    t.equal(await files.has(digest), true, 'a minute too early')
    laterMs = limits.sharedFileKeptMs
    await shared.clear({ announced: { ...announced, id: '000009-01234567' }, switchedId: id }, [])
    t.equal(await files.has(digest), true, 'a snapshot is on its way to this machine')
    await shared.clear(facts, [digest])
    t.equal(await files.has(digest), true, 'a member awaits it')
    await shared.clear(facts, [])
    t.equal(await files.has(digest), false)
    for (const file of needed) t.equal(await files.get(file, to), true)
    const nextId = await publishTest(data, 1, manyColumns(2_000))
    const next = { ...announced, ...(await announcedSnapshot(data, nextId)) }
    await shared.clear({ announced: next, switchedId: nextId }, [])
    const shard = await digestOfFile(join(data, 'snapshots', id, '1-0000.shard'))
    t.equal(await files.has(shard), false, 'one that is gone back to is put there again')
  })
})
