import t, { type Test } from 'tap'
import { RowReader } from '../../src/follow/rows.js'
import { Transactions } from '../../src/follow/transactions.js'
import { decodeChanges } from '../../src/journal/content.js'
import { limits } from '../../src/limits.js'
import type {
  Relation,
  ReplicationMessage,
  Tuple,
} from '../../src/sources/postgres/replication/messages.js'
import type { FollowedTable } from '../../src/sources/postgres/replication/table.js'

const column = (name: string) => ({ name, typeName: 'text', typeOid: 25 })
const names = ['key', 'number', 'lat', 'lng']

const table: FollowedTable = {
  oid: 7,
  name: 'public.people',
  columns: {
    key: column('key'),
    number: column('number'),
    lat: column('lat'),
    lng: column('lng'),
    contact: undefined,
  },
  isGeometry: false,
}

const relation: Relation = {
  kind: 'relation',
  oid: 7,
  columns: names.map((name) => ({ name, typeOid: 25, isIdentity: name === 'key' })),
}

const tuple = (...values: readonly (string | null | undefined)[]): Tuple =>
  values.map((value) => (typeof value === 'string' ? Buffer.from(value) : value))

const insert = (key: number | string, oid = 7): ReplicationMessage => ({
  kind: 'insert',
  oid,
  row: tuple(`${key}`, '+9991', '1', '2'),
})

const keyOnly = (key: string) => ({ isWhole: false, tuple: tuple(key, null, null, null) })

function taken(
  messages: readonly ReplicationMessage[],
  allowsTruncate = true,
): { batches: { id: string; changes: string[] }[]; commits: bigint[]; rejected: string[] } {
  const batches: { id: string; changes: string[] }[] = []
  const commits: bigint[] = []
  const rejected: string[] = []
  const transactions = new Transactions({
    sourceId: 1,
    table,
    rows: new RowReader(table, { rowOptions: {}, onRejected: (reason) => rejected.push(reason) }),
    idPrefix: 'pg:1:s:',
    allowsTruncate,
    onBatch: ({ batchId, content }) => {
      const changes = decodeChanges(content)
      const text = changes.map((each) =>
        each.op === 'clear' ? each.op : `${each.op} ${each.identity}`,
      )
      batches.push({ id: batchId, changes: text })
    },
    isNew: () => true,
    onRelation: () => {},
    onCommit: (endLsn) => commits.push(endLsn),
  })
  for (const message of [relation, ...messages]) transactions.take(message)
  return { batches, commits, rejected }
}

const transaction = (lsn: bigint, ...messages: readonly ReplicationMessage[]) => [
  { kind: 'begin', commit: { lsn, xid: 1, time: 0n } } as const,
  ...messages,
  { kind: 'commit', endLsn: lsn + 1n } as const,
]

t.test('a transaction is one batch with the last change of each key', async (t) => {
  const { batches, commits } = taken([
    ...transaction(0x1_0000_000an, insert('a'), insert('b'), {
      kind: 'delete',
      oid: 7,
      old: keyOnly('a'),
    }),
    ...transaction(0x1_0000_000cn, insert('a', 8)),
    ...transaction(0x1_0000_000en, insert('a'), { kind: 'truncate', oids: [8, 7] }, insert('c')),
  ])
  t.same(batches, [
    { id: 'pg:1:s:1/A:0', changes: ['upsert b', 'delete a'] },
    { id: 'pg:1:s:1/E:0', changes: ['clear', 'upsert c'] },
  ])
  t.same(commits, [0x1_0000_000bn, 0x1_0000_000dn, 0x1_0000_000fn])
})

t.test('a change of the key deletes the old one in the same batch', async (t) => {
  const update = (old: Tuple, row: Tuple, isWhole: boolean): ReplicationMessage => ({
    ...{ kind: 'update', oid: 7, row },
    old: { isWhole, tuple: old },
  })
  const { batches } = taken(
    transaction(
      1n,
      update(tuple('a', null, null, null), tuple('b', '+9991', '1', '2'), false),
      update(tuple('c', '+9991', '1', '2'), tuple('c', undefined, '3', '4'), true),
      update(tuple('d', '+9991', '1', '2'), tuple('e', '', '3', '4'), true),
    ),
  )
  t.same(batches[0].changes, ['delete a', 'upsert b', 'upsert c', 'delete d', 'delete e'])
})

t.test('who is in a row that an import rejects is not there', async (t) => {
  const row = (...values: (string | null)[]): ReplicationMessage => ({
    ...{ kind: 'insert', oid: 7 },
    row: tuple(...values),
  })
  const { batches, rejected } = taken(
    transaction(
      1n,
      row('a', '+9991', '95', '2'),
      row('b', null, '5', '2'),
      row('', '+9991', '5', '2'),
      row(null, '+9991', '5', '2'),
      row('k'.repeat(limits.keyBytes), '+9991', '0', '0'),
      row('k'.repeat(limits.keyBytes + 1), '+9991', '5', '2'),
    ),
  )
  t.same(batches[0].changes, ['delete a', 'delete b', `delete ${'k'.repeat(limits.keyBytes)}`])
  t.same(rejected, [
    ...['LatOutOfRange', 'NumberEmpty', 'KeyMissing', 'KeyMissing'],
    ...['PositionZero', 'KeyTooLong'],
  ])
})

t.test(
  'a long transaction is cut at the bound of a batch, always in the same places',
  async (t) => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => insert(at))
    const whole = taken(transaction(1n, ...rows(limits.batchChangeCount))).batches
    t.same(sizes(whole), [['pg:1:s:0/1:0', limits.batchChangeCount]])
    const more = transaction(1n, ...rows(limits.batchChangeCount + 1))
    t.same(sizes(taken(more).batches), [
      ['pg:1:s:0/1:0', limits.batchChangeCount],
      ['pg:1:s:0/1:1', 1],
    ])
    t.same(taken(more), taken(more))
    const moved: ReplicationMessage = {
      ...{ kind: 'update', oid: 7, old: keyOnly('old'), row: tuple('new', '+9991', '1', '2') },
    }
    const last = taken(transaction(1n, ...rows(limits.batchChangeCount - 1), moved)).batches[1]
    t.same(last.changes, ['delete old', 'upsert new'], 'what is of one row stays together')
  },
)

t.test('it stops at what it cannot take', async (t) => {
  const truncate: ReplicationMessage = { kind: 'truncate', oids: [7] }
  t.throws(() => taken(transaction(1n, truncate), false), { code: 'Guarded' })
  const stored: ReplicationMessage = {
    ...{ kind: 'insert', oid: 7 },
    row: tuple('a', undefined, '1', '2'),
  }
  t.throws(() => taken(transaction(1n, stored)), { message: /"number".*REPLICA IDENTITY FULL/ })
  const begins = (t: Test, columns: readonly object[], message: RegExp) =>
    t.throws(() => taken([{ ...relation, columns } as ReplicationMessage]), { message })
  const { columns } = relation
  begins(t, columns.slice(1), /no column "key" any more/)
  begins(t, [{ ...columns[0], typeOid: 20 }, ...columns.slice(1)], /another type than before/)
  begins(t, [{ ...columns[0], isIdentity: false }, ...columns.slice(1)], /REPLICA IDENTITY/)
})

function sizes(batches: readonly { id: string; changes: string[] }[]) {
  return batches.map(({ id, changes }) => [id, changes.length])
}
