/**
 * The changes of a batch as bytes: an array of MessagePack with an array for each change. Its length says
 * what it is: none empties the source, one member is a delete, four are an upsert, five are an upsert with a
 * key.
 *
 * @module
 */
import { Packr } from 'msgpackr'
import { type Change, identityOf } from '../changes/change.js'

const packr = new Packr({ useRecords: false })

type Row =
  | readonly []
  | readonly [identity: string]
  | readonly [phone: string, lng: number, lat: number, contact: string]
  | readonly [phone: string, lng: number, lat: number, contact: string, key: string]

/** @throws Error  where the identity of an upsert is not that of its key, or of its phone and contact */
export function encodeChanges(changes: readonly Change[]): Uint8Array {
  return packr.pack(changes.map(rowOf))
}

/** @throws Error  where the bytes are no changes; says nothing of phones and positions */
export function decodeChanges(content: Uint8Array): Change[] {
  const rows: unknown = packr.unpack(content)
  if (!Array.isArray(rows)) throw new Error('the content of a record is no array')
  return rows.map(changeOf)
}

function rowOf(change: Change): Row {
  if (change.op === 'clear') return []
  if (change.op === 'delete') return [change.identity]
  const { identity, phone, lng, lat, contact, key } = change
  if (identity !== (key ?? identityOf(phone, contact))) {
    throw new Error('the identity of an upsert is not what its other members say')
  }
  return key === undefined ? [phone, lng, lat, contact] : [phone, lng, lat, contact, key]
}

function changeOf(row: Row): Change {
  if (row.length === 0) return { op: 'clear' }
  if (row.length === 1) return { op: 'delete', identity: row[0] }
  if (row.length !== 4 && row.length !== 5) {
    throw new Error(`a change in the content of a record has ${(row as unknown[]).length} members`)
  }
  const [phone, lng, lat, contact, key] = row
  const identity = key ?? identityOf(phone, contact)
  return { op: 'upsert', identity, phone, lng, lat, contact, key }
}
