/**
 * A table whose changes are to be read: its columns, and whether each row can be told by a key.
 *
 * @module
 */
import type { Client } from 'pg'
import { OperatorError } from '../../../errors.js'
import type { ColumnNames } from '../../batch.js'
import { planCopy } from '../query.js'
import { type DatabaseAddress, shownUrl } from '../url.js'

/** A column that is used. */
export interface TableColumn {
  readonly name: string
  /** Of domains, what they are made of. */
  readonly typeName: string
  /** As relations of the stream have it. */
  readonly typeOid: number
}

export interface FollowedTable {
  readonly oid: number
  /** As SQL, with its schema. */
  readonly name: string
  readonly columns: {
    readonly number: TableColumn
    readonly lat: TableColumn
    /** The same as `lat` where that is a geometry. */
    readonly lng: TableColumn
    readonly contact: TableColumn | undefined
    readonly key: TableColumn
  }
  readonly isGeometry: boolean
}

/** What an import reads of it. */
export function selectAll({ name }: Pick<FollowedTable, 'name'>): string {
  return `SELECT * FROM ONLY ${name}`
}

/**
 * To be called within a transaction of `withSession`.
 *
 * @param name  as SQL has it, with a schema or without
 * @param names  without a key that is the column of the primary key
 * @throws OperatorError  InputRejected, which says what to do
 */
export async function describeTable(
  client: Client,
  address: DatabaseAddress,
  name: string,
  names: ColumnNames,
): Promise<FollowedTable> {
  const refuse = (text: string, cause?: Error) =>
    new OperatorError('InputRejected', `${shownUrl(address)}: ${text}`, { cause })
  const found = await findTable(client, name).catch((error: Error) => {
    throw refuse(`the table cannot be looked up: ${error.message}`, error)
  })
  if (found === undefined) {
    throw refuse(`there is no table ${name}: name it with its schema, as in public.people`)
  }
  const { oid, shown, kind } = found
  if (kind !== 'r') {
    throw refuse(
      `${shown} is ${kinds[kind] ?? 'no table'}: only plain tables can be followed, such as its partitions`,
    )
  }
  if (found.isTemporary) throw refuse(`${shown} is not logged: its changes cannot be read`)
  if (found.hasRowSecurity) {
    throw refuse(
      `row security hides rows of ${shown} from this user: a role with BYPASSRLS is needed, for changes come of all rows`,
    )
  }
  const attributes = await attributesOf(client, oid)
  const keyName = names.key ?? (await primaryKeyOf(client, oid))
  if (keyName === undefined) {
    throw refuse(
      `${shown} has no primary key of one column: name a column that is unique with --key`,
    )
  }
  const select = selectAll({ name: shown })
  const { chosen, typeNames } = await planCopy(client, address, select, { ...names, key: keyName })
  const column = (columnName: string | undefined): TableColumn => {
    const attribute = attributes.find((each) => each.name === columnName)
    if (attribute === undefined) throw new Error('a column of the table is no column of it')
    if (attribute.isGenerated) {
      throw refuse(
        `the column "${attribute.name}" of ${shown} is generated, and the server does not send such columns: use one that a trigger fills`,
      )
    }
    const typeName = typeNames.get(attribute.name) ?? ''
    return { name: attribute.name, typeName, typeOid: attribute.typeOid }
  }
  const key = column(chosen.key)
  await assertUnique(client, oid, key.name, (text) => refuse(text(shown)))
  if (!(await identityOf(client, oid)).includes(key.name)) {
    throw refuse(identityMissing(shown, key.name))
  }
  return {
    oid,
    name: shown,
    columns: {
      number: column(chosen.number),
      lat: column(chosen.lat),
      lng: column(chosen.lng),
      contact: chosen.contact === undefined ? undefined : column(chosen.contact),
      key,
    },
    isGeometry: chosen.lat === chosen.lng,
  }
}

/** What to do where old rows do not say which recipient it was. */
export function identityMissing(table: string, key: string): string {
  return (
    `deleted rows of ${table} do not come with "${key}", the key: ` +
    `ALTER TABLE ${table} REPLICA IDENTITY USING INDEX … (a unique index on it, NOT NULL), or REPLICA IDENTITY FULL`
  )
}

const kinds: Readonly<Record<string, string>> = {
  p: 'a partitioned table',
  v: 'a view',
  m: 'a materialized view',
  f: 'a foreign table',
  S: 'a sequence',
}

async function findTable(client: Client, name: string) {
  const { rows } = await client.query<{
    oid: string
    shown: string
    kind: string
    persistence: string
    secured: boolean
  }>(
    `SELECT c.oid::text AS oid, format('%I.%I', n.nspname, c.relname) AS shown, c.relkind::text AS kind,
       c.relpersistence::text AS persistence, row_security_active(c.oid) AS secured
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = to_regclass($1)`,
    [name],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { oid, shown, kind, persistence, secured } = row
  return {
    oid: Number(oid),
    shown,
    kind,
    isTemporary: persistence !== 'p',
    hasRowSecurity: secured,
  }
}

async function attributesOf(client: Client, oid: number) {
  const { rows } = await client.query<{ name: string; oid: string; generated: string }>(
    `SELECT attname AS name, atttypid::text AS oid, attgenerated::text AS generated
     FROM pg_catalog.pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped`,
    [oid],
  )
  return rows.map(({ name, oid, generated }) => {
    return { name, typeOid: Number(oid), isGenerated: generated !== '' }
  })
}

async function primaryKeyOf(client: Client, oid: number): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT a.attname AS name FROM pg_catalog.pg_index i
     JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
     WHERE i.indrelid = $1 AND i.indisprimary AND i.indnkeyatts = 1 AND a.attnum = i.indkey[0]`,
    [oid],
  )
  return rows[0]?.name
}

/** Two rows with one key would be one recipient; a check that comes late would let them swap their keys. */
async function assertUnique(
  client: Client,
  oid: number,
  key: string,
  refuse: (text: (table: string) => string) => Error,
): Promise<void> {
  const { rows } = await client.query<{ immediate: boolean }>(
    `SELECT i.indimmediate AS immediate FROM pg_catalog.pg_index i
     JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE i.indrelid = $1 AND a.attname = $2 AND i.indisunique AND i.indisvalid
       AND i.indnkeyatts = 1 AND i.indpred IS NULL`,
    [oid, key],
  )
  if (rows.some(({ immediate }) => immediate)) return
  throw refuse((table) =>
    rows.length > 0
      ? `the column "${key}" of ${table}, the key, may be unique as late as at the end of a transaction: its constraint must not be DEFERRABLE`
      : `the column "${key}" of ${table}, the key, is not unique: CREATE UNIQUE INDEX ON ${table} ("${key}")`,
  )
}

/** The columns with which an old row comes. */
async function identityOf(client: Client, oid: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT a.attname AS name FROM pg_catalog.pg_class c
     JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.oid = $1 AND (c.relreplident = 'f' OR EXISTS (
       SELECT FROM pg_catalog.pg_index i
       WHERE i.indrelid = c.oid AND a.attnum = ANY(i.indkey)
         AND (c.relreplident = 'd' AND i.indisprimary OR c.relreplident = 'i' AND i.indisreplident)))`,
    [oid],
  )
  return rows.map(({ name }) => name)
}
