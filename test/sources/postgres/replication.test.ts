import t from 'tap'
import {
  identityFault,
  isBefore,
  isMoved,
  type TableIdentity,
} from '../../../src/sources/postgres/replication/identity.js'
import { formatLsn, parseLsn } from '../../../src/sources/postgres/replication/lsn.js'
import { readMessage } from '../../../src/sources/postgres/replication/messages.js'
import { readPoint } from '../../../src/sources/postgres/replication/point.js'

t.test('places of the log are written as the server writes them', async (t) => {
  for (const text of ['0/0', '16/B374D848', 'FFFFFFFF/FFFFFFFF', '1/1']) {
    t.equal(formatLsn(parseLsn(text)), text)
  }
  t.equal(parseLsn('1/2'), 0x1_0000_0002n)
  for (const text of ['', '1', '1/', '100000000/0', 'x/1']) t.throws(() => parseLsn(text))
})

t.test('a column is told by its place among those of a row', async (t) => {
  const column = (name: string, before: readonly number[], row: string) => {
    const number = before.length + 1
    return { name, number, type: '25', row, definition: row, before, labels: [] }
  }
  const identity = (row: string, before: readonly number[] = [1, 2]): TableIdentity => ({
    table: '7',
    isLogged: true,
    file: '8',
    toast: '9',
    columns: { key: column('id', [], '5'), number: { ...column('phone', before, row), number: 3 } },
    otherColumns: row,
    unique: ['constraint 1'],
  })
  const relation = (...names: readonly string[]) => {
    const columns = names.map((name) => ({ name, typeOid: 25, isIdentity: false }))
    return { kind: 'relation' as const, oid: 7, columns }
  }
  t.notOk(isMoved(identity('5'), relation('id', 'mobile', 'phone', 'added')))
  t.ok(isMoved(identity('5'), relation('id', 'phone', 'x')))
  t.ok(isMoved(identity('5'), relation('mobile', 'id', 'phone')))
  const kept = identity('5')
  t.equal(identityFault(kept, identity('5', [1]), true), undefined, 'it had its name all the time')
  t.equal(identityFault(kept, identity('6'), false), undefined)
  t.match(identityFault(kept, identity('6'), true), /had a column "phone" at another place/)
  t.match(identityFault(kept, identity('6', [1]), false), /lost one before it/)
})

t.test('transactions are older or younger also where their numbers begin anew', async (t) => {
  const found = (horizon?: number) => ({ horizon }) as TableIdentity
  t.ok(isBefore(4, found(5)))
  t.notOk(isBefore(5, found(5)))
  t.notOk(isBefore(6, found(5)))
  t.ok(isBefore(0xfffffff0, found(5)))
  t.notOk(isBefore(5, found(0xfffffff0)))
  t.notOk(isBefore(4, found()), 'another timeline')
})

t.test('messages of pgoutput are read', async (t) => {
  const begin = Buffer.alloc(21)
  begin.write('B')
  begin.writeBigUInt64BE(0x1_0000_0002n, 1)
  begin.writeBigUInt64BE(3n, 9)
  begin.writeUInt32BE(4, 17)
  t.same(readMessage(begin), {
    kind: 'begin',
    commit: { lsn: 0x1_0000_0002n, time: 3n, xid: 4 },
  })
  const commit = Buffer.alloc(26)
  commit.write('C')
  commit.writeBigUInt64BE(5n, 10)
  t.same(readMessage(commit), { kind: 'commit', endLsn: 5n })
  const relation = bytes(
    'R',
    int(7),
    'public\0people\0d',
    short(2),
    '\x01id\0',
    int(23),
    int(-1),
    '\0é\0',
    int(25),
    int(-1),
  )
  t.same(readMessage(relation), {
    ...{ kind: 'relation', oid: 7 },
    columns: [
      { name: 'id', typeOid: 23, isIdentity: true },
      { name: 'é', typeOid: 25, isIdentity: false },
    ],
  })
  const tuple = bytes(short(3), 'n', 'u', 't', int(2), 'ab')
  const row = [null, undefined, Buffer.from('ab')]
  t.same(readMessage(bytes('I', int(7), 'N', tuple)), { kind: 'insert', oid: 7, row })
  const update = { kind: 'update', oid: 7, row }
  t.same(readMessage(bytes('U', int(7), 'N', tuple)), { ...update, old: undefined })
  t.same(readMessage(bytes('U', int(7), 'K', tuple, 'N', tuple)), {
    ...update,
    old: { isWhole: false, tuple: row },
  })
  t.same(readMessage(bytes('D', int(7), 'O', tuple)), {
    ...{ kind: 'delete', oid: 7 },
    old: { isWhole: true, tuple: row },
  })
  const truncate = bytes('T', int(2), '\0', int(7), int(-1))
  t.same(readMessage(truncate), { kind: 'truncate', oids: [7, 0xffffffff] })
  for (const tag of 'YOM') t.same(readMessage(bytes(tag)), { kind: 'other' })
})

t.test('what is no message is refused, and nothing of it is said', async (t) => {
  const tuple = bytes(short(1), 't', int(9), '+9995')
  for (const message of ['Z', '', bytes('I', int(7), 'N', tuple), bytes('I', int(7), 'X')]) {
    t.throws(() => readMessage(bytes(message)), { message: /^(?!.*999)/ })
  }
})

t.test('points of PostGIS are read, in either order of bytes', async (t) => {
  const point = (hex: string) => readPoint(Buffer.from(hex))
  // SELECT 'SRID=4326;POINT(1 2)'::geometry and others, of PostGIS 3.3.
  const one = '000000000000F03F'
  const two = '0000000000000040'
  t.same(point(`0101000020E6100000${one}${two}`), { lng: 1, lat: 2, srid: 4326 })
  t.same(point(`0101000000${one}${two}`), { lng: 1, lat: 2, srid: 0 })
  t.same(point(`01010000A0E6100000${one}${two}${one}`), { lng: 1, lat: 2, srid: 4326 })
  t.same(point('00000000013FF00000000000004000000000000000'), { lng: 1, lat: 2, srid: 0 })
  t.same(point(`0101000020110F0000${one}${two}`), { lng: 1, lat: 2, srid: 3857 })
  const nothing = '000000000000F87F'
  const others = [
    `0101000000${nothing}${nothing}`,
    `0102000000${one}${two}`,
    `0101000000${one}`,
    '0101',
    '',
    'zz',
    `0101000000${one}${two}0`,
  ]
  for (const hex of others) t.equal(point(hex), undefined, hex)
})

const int = (value: number) => {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}

const short = (value: number) => Buffer.of(value >> 8, value & 255)

function bytes(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}
