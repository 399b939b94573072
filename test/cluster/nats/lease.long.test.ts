/**
 * The lease of the writer in a real bucket of NATS: it goes to higher epochs alone, and of two who take it at once one has
 * it, whatever becomes of answers and of the bucket.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { KV } from '@nats-io/kv'
import t, { type Test } from 'tap'
import { openBucket, WriterLease } from '../../../src/cluster/nats/lease.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { Opened } from '../../../src/cluster/nats/opened.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { until } from '../../support/service/until.js'
import { connected } from '../support/connected.js'
import { type NatsServer, startNatsServer } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

interface Holding {
  readonly lease: WriterLease
  readonly bucket: KV
}

/** A bucket of its own for each test, and leases of machines. */
async function bucketFor(t: Test, nats: NatsServer) {
  const names = namesOf(t.name.replaceAll(/\W/g, '-'))
  const connection = await connected(t, nats)
  const holding = async (name: string): Promise<Holding> => {
    const bucket = await openBucket(connection, names)
    return { bucket, lease: new WriterLease(new Opened(async () => bucket), name) }
  }
  return { connection, holding }
}

/** A bucket whose writes are done as a test wants. */
function written(bucket: KV, around: (write: () => Promise<number>) => Promise<number>): KV {
  const partial: Pick<KV, 'get' | 'create' | 'update'> = {
    get: (key) => bucket.get(key),
    create: (key, value) => around(() => bucket.create(key, value)),
    update: (key, value, version) => around(() => bucket.update(key, value, version)),
  }
  return partial as KV
}

/** Before the first write, others do something. */
function overtaken(bucket: KV, others: () => Promise<unknown>): KV {
  let isFirst = true
  return written(bucket, async (write) => {
    if (isFirst) {
      isFirst = false
      await others()
    }
    return await write()
  })
}

/** NATS does what it is asked to, and its answer is lost. */
function unanswered(bucket: KV): KV {
  return written(bucket, async (write) => {
    await write()
    throw new Error('timeout')
  })
}

withEachNats(t, async (t, server) => {
  const nats = await startNatsServer(t, { server })

  t.test('taken once, renewed, and taken over by a higher epoch alone', async (t) => {
    const { holding } = await bucketFor(t, nats)
    const [one, other] = [await holding('one'), await holding('other')]
    t.equal(await one.lease.holder(), undefined)
    t.same(await one.lease.take(3), { isTaken: true, epoch: 3 })
    t.same(await other.lease.take(2), { isTaken: false, epoch: 3 })
    t.same(await other.lease.take(3), { isTaken: false, epoch: 3 }, 'nor by the same one')
    for (let i = 0; i < 3; i++) t.same(await one.lease.renew(3), { name: 'one', epoch: 3 })
    t.same(await other.lease.holder(), { name: 'one', epoch: 3 })
    t.same(await other.lease.take(5), { isTaken: true, epoch: 5 })
    t.same(await one.lease.renew(3), { name: 'other', epoch: 5 }, 'whoever had it is told')
    t.same(await one.lease.take(5), { isTaken: false, epoch: 5 })
    t.same(await other.lease.renew(5), { name: 'other', epoch: 5 }, 'and has spoilt nothing')
  })

  t.test('of many who take it at once, one has it', async (t) => {
    const { holding } = await bucketFor(t, nats)
    for (let epoch = 1; epoch <= 5; epoch++) {
      const machines = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(holding))
      const taken = await Promise.all(machines.map(({ lease }) => lease.take(epoch)))
      t.equal(taken.filter(({ isTaken }) => isTaken).length, 1)
      t.ok(taken.every((one) => one.epoch === epoch))
    }
  })

  t.test('who is overtaken between looking and taking does not have it', async (t) => {
    const { holding } = await bucketFor(t, nats)
    const [one, other] = [await holding('one'), await holding('other')]
    for (const [own, higher] of [
      [1, 2],
      [3, 4],
    ] as const) {
      const bucket = overtaken(one.bucket, () => other.lease.take(higher))
      const slow = new WriterLease(new Opened(async () => bucket), 'one')
      t.same(await slow.take(own), { isTaken: false, epoch: higher })
      t.same(await other.lease.renew(higher), { name: 'other', epoch: higher })
    }
  })

  t.test('who is overtaken while it renews is told, and writes nothing there', async (t) => {
    const { holding } = await bucketFor(t, nats)
    const [one, other] = [await holding('one'), await holding('other')]
    let isSlow = false
    const bucket = written(one.bucket, async (write) => {
      if (isSlow) await other.lease.take(2)
      isSlow = false
      return await write()
    })
    const slow = new WriterLease(new Opened(async () => bucket), 'one')
    t.same(await slow.take(1), { isTaken: true, epoch: 1 })
    isSlow = true
    t.same(await slow.renew(1), { name: 'other', epoch: 2 })
    t.same(await other.lease.holder(), { name: 'other', epoch: 2 })
  })

  t.test('an answer that is lost does not lose the lease', async (t) => {
    const { holding } = await bucketFor(t, nats)
    const [one, other] = [await holding('one'), await holding('other')]
    const lease = new WriterLease(new Opened(async () => unanswered(one.bucket)), 'one')
    t.same(await lease.take(1), { isTaken: true, epoch: 1 })
    t.same(await lease.take(2), { isTaken: true, epoch: 2 })
    t.same(await other.lease.holder(), { name: 'one', epoch: 2 })
  })

  t.test('a bucket that lost what was in it has it again', async (t) => {
    const { holding } = await bucketFor(t, nats)
    const { lease, bucket } = await holding('one')
    t.same(await lease.take(4), { isTaken: true, epoch: 4 })
    await bucket.delete('writer')
    t.equal(await lease.holder(), undefined)
    t.same(await lease.renew(4), { name: 'one', epoch: 4 })
    await bucket.purge('writer')
    t.same(await lease.renew(4), { name: 'one', epoch: 4 })
    t.same(await lease.holder(), { name: 'one', epoch: 4 })
  })

  t.test('a bucket that went back in time takes nothing from who has it', async (t) => {
    const nats = await startNatsServer(t, { server })
    const { connection, holding } = await bucketFor(t, nats)
    const [one, other] = [await holding('one'), await holding('other')]
    t.same(await one.lease.take(1), { isTaken: true, epoch: 1 })
    await nats.stop()
    const old = join(temporaryDirectory(t), 'store')
    cpSync(nats.store, old, { recursive: true })
    await nats.start()
    await until(() => connection.isUp)
    t.same(await other.lease.take(2), { isTaken: true, epoch: 2 })
    for (let i = 0; i < 5; i++) t.same(await other.lease.renew(2), { name: 'other', epoch: 2 })
    await nats.stop()
    rmSync(nats.store, { recursive: true })
    cpSync(old, nats.store, { recursive: true })
    await nats.start()
    await until(() => connection.isUp)
    t.same(await other.lease.holder(), { name: 'one', epoch: 1 }, 'as it was')
    t.same(await other.lease.renew(2), { name: 'other', epoch: 2 })
    t.same(await one.lease.renew(1), { name: 'other', epoch: 2 })
  })

  t.test('without NATS, nobody has it', async (t) => {
    const nats = await startNatsServer(t, { server })
    const { connection, holding } = await bucketFor(t, nats)
    const { lease } = await holding('one')
    t.same(await lease.take(1), { isTaken: true, epoch: 1 })
    await nats.stop()
    await until(() => !connection.isUp)
    await Promise.all([t.rejects(lease.renew(1)), t.rejects(lease.take(2))])
    await nats.start()
    await until(() => connection.isUp)
    t.same(await lease.renew(1), { name: 'one', epoch: 1 })
  })
})
