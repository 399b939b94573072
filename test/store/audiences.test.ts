/**
 * The audiences that all machines of a cluster know: what becomes of the entries that announce and end them.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { sharedAudience as audience } from '../support/data/shared-audiences.js'
import { temporaryStore } from '../support/data/store.js'

const IS_MADE = { isMade: true } as const
const TOO_MANY = { isMade: false, code: 'TooManyAudiences' } as const

t.test('one that was announced is known until it is deleted or expires', async (t) => {
  const { entries, audiences } = await temporaryStore(t)
  const nowMs = Date.now()
  const [one, other] = [audience(1), audience(2, { keyName: 'chief' })]
  const put = (each: typeof one) => ({ kind: 'audience', audience: each, atMs: nowMs }) as const
  t.same(entries.apply([put(one), put(other)], 2), [IS_MADE, IS_MADE])
  t.same(audiences.find(one.id, nowMs), one)
  t.same(audiences.live(nowMs), [one, other])
  t.same(audiences.live(one.expiresMs - 1), [one, other])
  t.same(audiences.live(one.expiresMs), [])
  t.equal(audiences.find(other.id, other.expiresMs), undefined)
  t.same(entries.apply([{ kind: 'deleteAudience', id: one.id }], 3), [IS_MADE])
  t.same(audiences.live(nowMs), [other])
  t.match(entries.apply([{ kind: 'deleteAudience', id: one.id }], 4), [
    { isMade: false, code: 'UnknownAudience' },
  ])
  t.equal(entries.sequence(), 4)
})

t.test('as many as may be on all machines together, and not one more', async (t) => {
  const { entries, audiences } = await temporaryStore(t)
  const atMs = Date.now()
  const all = Array.from({ length: limits.audienceCount }, (_, at) => audience(at))
  const put = (each: (typeof all)[number], when = atMs) =>
    ({ kind: 'audience', audience: each, atMs: when }) as const
  const outcomes = entries.apply(
    all.map((each) => put(each)),
    1,
  )
  t.ok(outcomes.every(({ isMade }) => isMade))
  const more = audience(limits.audienceCount)
  t.match(entries.apply([put(more)], 2), [TOO_MANY])
  t.equal(audiences.live(atMs).length, limits.audienceCount)
  t.same(entries.apply([put(all[0])], 3), [IS_MADE], 'one that is known already is no further one')
  // By the clock of the machine that wrote the entry, whatever time it is here.
  t.same(entries.apply([put(more, all[0].expiresMs)], 4), [IS_MADE])
  t.same(audiences.live(atMs), [more], 'those that have expired by then are forgotten')
})

t.test('as many bytes and snapshots as may be', async (t) => {
  const { entries } = await temporaryStore(t)
  const atMs = Date.now()
  const put = (number: number, more: Parameters<typeof audience>[1]) =>
    entries.apply([{ kind: 'audience', audience: audience(number, more), atMs }], number)[0]
  const half = limits.audiencesBytes / 2
  t.same(put(1, { file: { sha256: '1', byteLength: half } }), IS_MADE)
  t.match(put(2, { file: { sha256: '2', byteLength: half + 1 } }), TOO_MANY)
  t.same(put(3, { file: { sha256: '3', byteLength: half } }), IS_MADE)
  t.match(put(4, { file: { sha256: '4', byteLength: 1 } }), TOO_MANY)
  const small = await temporaryStore(t)
  const ofSnapshot = (number: number) => {
    const snapshotId = `${String(number).padStart(6, '0')}-00000000`
    const change = { kind: 'audience', audience: audience(number, { snapshotId }), atMs } as const
    return small.entries.apply([change], number)[0]
  }
  for (let number = 1; number <= limits.audienceSnapshotCount; number++) {
    t.same(ofSnapshot(number), IS_MADE)
  }
  t.match(ofSnapshot(limits.audienceSnapshotCount + 1), TOO_MANY)
})

t.test('a store that is of no cluster any more knows none', async (t) => {
  const { entries, audiences } = await temporaryStore(t)
  t.equal(entries.areAudiencesShared(), false)
  entries.noteAudiencesShared()
  t.equal(entries.areAudiencesShared(), true)
  entries.apply([{ kind: 'audience', audience: audience(1), atMs: Date.now() }], 1)
  entries.end()
  t.same(audiences.live(0), [])
  t.equal(entries.areAudiencesShared(), false)
})
