import { setImmediate as turn } from 'node:timers/promises'
import type { Connection } from 'pg'
import t, { type Test } from 'tap'
import type { FollowPlan } from '../../src/follow/plan.js'
import { StateFile } from '../../src/follow/state.js'
import { FollowedStream } from '../../src/follow/stream.js'
import { FollowTally } from '../../src/follow/tally.js'
import { parseDatabaseUrl } from '../../src/sources/postgres/url.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const SINCE_LSN = 100n

const lsnBytes = (lsn: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(lsn)
  return bytes
}
/** What pgoutput says, as the server wraps it. */
const logData = (...parts: readonly Uint8Array[]) =>
  Buffer.concat([Buffer.from('w'), Buffer.alloc(24), ...parts])
const begin = (lsn: bigint) => logData(Buffer.from('B'), lsnBytes(lsn), Buffer.alloc(12))
const commit = (endLsn: bigint) =>
  logData(Buffer.from('C'), Buffer.alloc(9), lsnBytes(endLsn), Buffer.alloc(8))
const keepAlive = (endLsn: bigint, isAsked: boolean) =>
  Buffer.concat([Buffer.from('k'), lsnBytes(endLsn), Buffer.alloc(8), Buffer.from([+isAsked])])

/** A stream without a server, and the places that the server was told. */
function follow(t: Test) {
  const dataDirectory = temporaryDirectory(t)
  const plan: FollowPlan = {
    dataDirectory,
    sourceId: 1,
    address: parseDatabaseUrl('postgres://user@host/people'),
    table: 'people',
    columns: {},
    rowOptions: {},
    slot: 'slot',
    publication: 'publication',
    allowsTruncate: false,
  }
  const column = { name: 'key', typeName: 'text', typeOid: 25 }
  const columns = { key: column, number: column, lat: column, lng: column, contact: undefined }
  const table = { oid: 7, name: 'public.people', columns, isGeometry: false }
  const state = { systemId: '1', slot: 'slot', table: 'public.people', confirmedLsn: SINCE_LSN }
  const checked = {
    table,
    state,
    slotLsn: SINCE_LSN,
    isStandby: false,
    taken: new Set<bigint>(),
    appliedSequence: 0,
  }
  const heard = { onBegin: () => {}, onRelation: () => {} }
  const followed = new FollowedStream(plan, checked, new FollowTally(), heard)
  const told: bigint[] = []
  const connection = {
    query: () => {},
    stream: { writable: true, destroy: () => {} },
    sendCopyFromChunk: (status: Buffer) => told.push(status.readBigUInt64BE(1)),
  }
  followed.stream.submit(connection as unknown as Connection)
  t.teardown(() => followed.close())
  const hear = (chunk: Buffer) => followed.stream.handleCopyData({ chunk })
  const noted = () => new StateFile(dataDirectory, 1).read()?.confirmedLsn
  return { followed, hear, told, noted }
}

t.test('the server is told what is on disk, and the state says it before', async (t) => {
  const { followed, hear, told, noted } = follow(t)
  hear(begin(110n))
  hear(commit(111n))
  followed.look()
  t.same(told, [], 'nothing was written yet')
  await turn()
  followed.look()
  t.same(told, [111n])
  t.equal(noted(), 111n)
  followed.look()
  t.same(told, [111n], 'once')
})

t.test('a transaction that has not ended is not confirmed, whatever the server asks', async (t) => {
  const { hear, told } = follow(t)
  hear(begin(120n))
  hear(keepAlive(150n, true))
  await turn()
  t.same(told, [SINCE_LSN])
  hear(commit(121n))
  hear(keepAlive(150n, true))
  await turn()
  t.same(told, [SINCE_LSN, 150n], 'and of transactions of others nothing came')
})
