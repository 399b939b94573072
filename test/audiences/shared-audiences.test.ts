/**
 * The audience thread of a machine of a cluster: the store says which audiences there are, and the disk has them or not.
 *
 * @module
 */
import { existsSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startAudiences } from '../../src/audiences/audiences.js'
import { removeUnknown } from '../../src/audiences/directory.js'
import type { AudienceAsker } from '../../src/audiences/messages.js'
import { limits } from '../../src/limits.js'
import { audienceName } from '../../src/snapshot/retention/audience-names.js'
import type { SharedAudience } from '../../src/store/audiences.js'
import { manyColumns } from '../support/data/columns.js'
import { frozenAudience, sharedAudience } from '../support/data/shared-audiences.js'
import { publishTest } from '../support/data/snapshots.js'
import { silentLog, temporaryStore } from '../support/data/store.js'
import { inTime } from '../support/service/in-time.js'

const ANYBODY: AudienceAsker = { keyName: null, boundaryDigest: null, isForAll: false }
const CHIEF: AudienceAsker = { keyName: 'chief', boundaryDigest: null, isForAll: true }

async function world(t: Test) {
  const data = t.testdir({})
  const snapshotId = await publishTest(data, 1, manyColumns(20))
  const { entries } = await temporaryStore(t, data)
  const audiences = startAudiences({
    dataDirectory: data,
    isShared: true,
    log: silentLog,
  })
  t.teardown(() => audiences.close())
  let sequence = 0
  return {
    data,
    snapshotId,
    announce: (audience: SharedAudience) =>
      entries.apply([{ kind: 'audience', audience, atMs: Date.now() }], ++sequence),
    end: (id: string) => entries.apply([{ kind: 'deleteAudience', id }], ++sequence),
    open: (id: string, asker = ANYBODY) =>
      audiences.ask<'open'>({ kind: 'open', id, after: 0, limit: 2, asker }, inTime()),
    list: (asker = ANYBODY) => audiences.ask<'list'>({ kind: 'list', asker }, inTime()),
    remove: (id: string, asker = ANYBODY) =>
      audiences.ask<'remove'>({ kind: 'remove', id, asker }, inTime()),
    describe: (id: string) => audiences.ask<'describe'>({ kind: 'describe', id }, inTime()),
  }
}

const pathOf = (data: string, { id, snapshotId, expiresMs }: SharedAudience) =>
  join(data, 'audiences', audienceName(id, snapshotId, expiresMs).name)

t.test('one is there once it was announced, until it is ended', async (t) => {
  const { data, snapshotId, announce, end, open, list, remove, describe } = await world(t)
  const audience = await frozenAudience(data, { snapshotId, entrySequence: 1 })
  await t.rejects(open(audience.id), { code: 'UnknownAudience' }, 'although its file is here')
  t.same(await list(), [])
  const { documents: _, entrySequence: __, ...made } = audience
  t.same(await describe(audience.id), made)
  announce(audience)
  t.match(await open(audience.id), { facts: { digest: audience.digest }, next: 2 })
  t.match(await list(), [{ id: audience.id, recipientCount: audience.recipientCount }])
  t.match(await remove(audience.id), { id: audience.id })
  t.ok(existsSync(pathOf(data, audience)), 'whether it may be ended was the question')
  t.match(await open(audience.id), { facts: { digest: audience.digest } })
  end(audience.id)
  await t.rejects(open(audience.id), { code: 'UnknownAudience' })
  await t.rejects(remove(audience.id), { code: 'UnknownAudience' })
  t.same(await list(), [])
})

t.test('one whose file is elsewhere is known all the same', async (t) => {
  const { data, snapshotId, announce, open, list } = await world(t)
  const audience = await frozenAudience(data, { snapshotId, entrySequence: 1 })
  announce(audience)
  renameSync(pathOf(data, audience), join(data, 'elsewhere'))
  await t.rejects(open(audience.id), { code: 'AudienceNotHere' })
  t.match(await list(), [{ id: audience.id }])
  renameSync(join(data, 'elsewhere'), pathOf(data, audience))
  t.match(await open(audience.id), { facts: { digest: audience.digest } })
})

t.test('the file of another audience is none of it', async (t) => {
  const { data, snapshotId, announce, open } = await world(t)
  const audience = await frozenAudience(data, { snapshotId, entrySequence: 1 })
  announce({ ...audience, digest: 'e'.repeat(64) })
  await t.rejects(open(audience.id), { code: 'AudienceDamaged' })
})

t.test('it is there for its key, and for whoever may list everybody', async (t) => {
  const { data, snapshotId, announce, open, list, remove } = await world(t)
  const keyName = 'some'
  const audience = await frozenAudience(data, { snapshotId, entrySequence: 1, keyName })
  announce(audience)
  const nobodys = sharedAudience(2, { keyName: 'other' })
  announce(nobodys)
  const own: AudienceAsker = { keyName, boundaryDigest: null, isForAll: false }
  t.match(await open(audience.id, own), { facts: { id: audience.id } })
  t.match(await open(audience.id, CHIEF), { facts: { id: audience.id } })
  for (const asker of [ANYBODY, { ...own, keyName: 'other' }, { ...own, boundaryDigest: 'b' }]) {
    await t.rejects(open(audience.id, asker), { code: 'UnknownAudience' })
    await t.rejects(remove(audience.id, asker), { code: 'UnknownAudience' })
  }
  // Of what is not here nobody else is told either.
  await t.rejects(open(nobodys.id, own), { code: 'UnknownAudience' })
  await t.rejects(open(nobodys.id, CHIEF), { code: 'AudienceNotHere' })
  t.equal((await list(own)).length, 1)
  t.equal((await list(CHIEF)).length, 2)
})

t.test('files that nobody knows go, but for those that may be announced yet', async (t) => {
  const { data, snapshotId } = await world(t)
  const startedMs = Date.now() - 1_000
  const [known, unknown, left] = [
    await frozenAudience(data, { snapshotId, entrySequence: 1 }),
    await frozenAudience(data, { snapshotId, entrySequence: 2 }),
    await frozenAudience(data, { snapshotId, entrySequence: 3 }),
  ]
  const ids = new Set([known.id])
  const before = new Date(startedMs - 1_000)
  utimesSync(pathOf(data, known), before, before)
  utimesSync(pathOf(data, left), before, before)
  const soonMs = Date.now() + limits.sharedFileKeptMs - 60_000
  t.equal(await removeUnknown(data, ids, { startedMs, nowMs: soonMs }), 1)
  t.notOk(existsSync(pathOf(data, left)), 'it was there when the process began')
  t.ok(existsSync(pathOf(data, unknown)), 'somebody may be about to announce it')
  const lateMs = Date.now() + limits.sharedFileKeptMs + 1_000
  t.equal(await removeUnknown(data, ids, { startedMs, nowMs: lateMs }), 1)
  t.notOk(existsSync(pathOf(data, unknown)))
  t.ok(existsSync(pathOf(data, known)))
})
