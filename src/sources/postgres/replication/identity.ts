/**
 * What tells a table that is followed from any other: kept beside the place up to which it was followed, and
 * compared with what the catalogue has later. Its rows may be others only in ways that the log of the server tells.
 *
 * A table that was written anew has a new file. VACUUM FULL and CLUSTER keep its TOAST table, and the forms of
 * ALTER TABLE make that anew, too. They also write the row of the catalogue for each column whose type they set,
 * as do forms that change no value (statistics, defaults): those leave something else there than before.
 *
 * They may hide that a column was renamed to and fro. With the name its place among the columns of rows went, and no
 * place changes but by a column before it, which is not there any more then. So the places tell, in which the
 * stream says that columns come.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import type { Client } from 'pg'
import type { Relation } from './messages.js'
import type { FollowedTable } from './table.js'

interface ColumnIdentity {
  readonly name: string
  /** Its place in the table, which no other column gets when it is dropped. */
  readonly number: number
  readonly type: string
  /** The transaction that wrote its row of the catalogue. */
  readonly row: string
  /** A digest of that row. */
  readonly definition: string
  /** Numbers of those before it in rows that the server sends; undefined where an earlier release noted none. */
  readonly before?: readonly number[] | undefined
  /** Rows of the catalogue for the labels of an enumeration. */
  readonly labels: readonly string[]
}

interface PublicationIdentity {
  readonly name: string
  readonly oid: string
  readonly row: string
  /** Why it has the table: entries of the catalogue. */
  readonly members: readonly string[]
}

export interface TableIdentity {
  /** No transaction before it was open; undefined where they were those of another timeline. */
  readonly horizon?: number | undefined
  readonly table: string
  readonly isLogged: boolean
  readonly file: string
  /** Of its TOAST table; `0` where it has none. */
  readonly toast: string
  /** Those that are used. */
  readonly columns: Partial<Readonly<Record<keyof FollowedTable['columns'], ColumnIdentity>>>
  /** A digest of the transactions that wrote the rows of the catalogue for the others, with those that were dropped. */
  readonly otherColumns: string
  /** The constraints and indexes that make the key unique. */
  readonly unique: readonly string[]
  readonly publication?: PublicationIdentity
}

/**
 * Takes no lock of the table.
 *
 * @returns undefined where there is no table of that name
 */
export async function readIdentity(
  client: Client,
  { name, columns }: Pick<FollowedTable, 'name' | 'columns'>,
  publication: string,
): Promise<TableIdentity | undefined> {
  const { rows: versions } = await client.query<{ version: number }>(
    `SELECT current_setting('server_version_num')::integer AS version`,
  )
  const used = Object.values(columns).flatMap((column) => column?.name ?? [])
  const { rows } = await client.query<{
    found: Omit<TableIdentity, 'columns'>
    columns: Record<string, ColumnIdentity> | null
  }>(identityQuery(versions[0].version), [name, used, columns.key.name, publication])
  if (rows.length === 0) return undefined
  const [{ found, columns: byName }] = rows
  const roles = Object.entries(columns).flatMap(([role, column]) => {
    const identity = column === undefined ? undefined : byName?.[column.name]
    return identity === undefined ? [] : [[role, identity]]
  })
  return { ...found, columns: Object.fromEntries(roles) }
}

function identityQuery(version: number): string {
  // PostgreSQL 15 publishes schemas, and 13 partitions by their parents. A table that leaves and comes back has other rows here.
  const schemas =
    version < 150_000
      ? ''
      : `UNION ALL SELECT 'schema ' || s.oid || ' ' || d.xmin FROM pg_catalog.pg_publication_namespace s
           JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
             AND d.refclassid = 'pg_catalog.pg_namespace'::regclass AND d.refobjid = s.pnnspid
           WHERE s.pnpubid = p.oid AND s.pnnspid = c.relnamespace`
  const parents =
    version < 130_000
      ? ''
      : `UNION ALL SELECT 'parent ' || o.oid || ' ' || (
             SELECT string_agg(i.xmin::text, ' ' ORDER BY i.inhrelid) FROM pg_catalog.pg_inherits i
             WHERE i.inhrelid IN (SELECT relid FROM pg_catalog.pg_partition_ancestors(c.oid)))
           FROM pg_catalog.pg_publication_rel o
           JOIN pg_catalog.pg_partition_ancestors(c.oid) a ON a.relid = o.prrelid
           WHERE o.prpubid = p.oid AND o.prrelid <> c.oid`
  return `SELECT jsonb_strip_nulls(jsonb_build_object(
      'horizon', txid_snapshot_xmin(txid_current_snapshot()) % (1::bigint << 32),
      'table', c.oid::text, 'isLogged', c.relpersistence = 'p',
      'file', c.relfilenode::text, 'toast', c.reltoastrelid::text,
      'otherColumns', (
        SELECT coalesce(md5(string_agg(a.attnum || ' ' || a.xmin, ',' ORDER BY a.attnum)), '')
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attname <> ALL($2)),
      'unique', (
        SELECT coalesce(jsonb_agg(coalesce('constraint ' || k.oid, 'index ' || i.indexrelid)), '[]')
        FROM pg_catalog.pg_index i
        JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
        WHERE i.indrelid = c.oid AND a.attname = $3 AND i.indisunique AND i.indisvalid
          AND i.indimmediate AND i.indnkeyatts = 1 AND i.indpred IS NULL),
      'publication', CASE WHEN p.oid IS NOT NULL THEN
        jsonb_build_object('name', p.pubname, 'oid', p.oid::text, 'row', p.xmin::text, 'members', (
            SELECT coalesce(jsonb_agg(m.entry), '[]') FROM (
              SELECT 'all' AS entry WHERE p.puballtables
              UNION ALL SELECT 'table ' || r.oid WHERE r.oid IS NOT NULL
              ${parents} ${schemas}) m)) END
    )) AS found, (
      SELECT jsonb_object_agg(a.attname, jsonb_build_object('name', a.attname, 'number', a.attnum,
        'type', a.atttypid::text, 'row', a.xmin::text,
        'definition', md5((to_jsonb(a) - 'attmissingval')::text || coalesce(d.oid::text, '')),
        'before', (
          SELECT coalesce(jsonb_agg(b.attnum ORDER BY b.attnum), '[]') FROM pg_catalog.pg_attribute b
          WHERE b.attrelid = c.oid AND b.attnum > 0 AND b.attnum < a.attnum AND NOT b.attisdropped AND coalesce(
            nullif(to_jsonb(r)->'prattrs', 'null') @> to_jsonb(b.attnum),
            b.attgenerated = '' OR b.attgenerated = 's' AND to_jsonb(p)->>'pubgencols' = 's')),
        'labels', (
          WITH RECURSIVE bases AS (
            SELECT a.atttypid AS oid
            UNION ALL SELECT t.typbasetype FROM bases JOIN pg_catalog.pg_type t USING (oid) WHERE t.typbasetype <> 0)
          SELECT coalesce(jsonb_agg(e.oid || ' ' || e.xmin::text ORDER BY e.oid), '[]')
          FROM bases JOIN pg_catalog.pg_enum e ON e.enumtypid = bases.oid)))
      FROM pg_catalog.pg_attribute a
      LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = ANY($2)
    ) AS columns
    FROM pg_catalog.pg_class c
    LEFT JOIN pg_catalog.pg_publication p ON p.pubname = $4
    LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid
    WHERE c.oid = to_regclass($1)`
}

/** Whether its rows were written to another file by something else than VACUUM FULL or CLUSTER, or may have been. */
export function isRewritten(kept: TableIdentity, found: TableIdentity): boolean {
  if (kept.file === found.file) return false
  return kept.toast === '0' || kept.toast !== found.toast
}

/**
 * Why rows may be others than the log tells, to be read behind the name of the table.
 *
 * @param hasMoved  whether a used column came at another place in rows since `kept` was read
 * @returns undefined where nothing of the kind happened
 */
export function identityFault(
  kept: TableIdentity,
  found: TableIdentity,
  hasMoved = false,
): string | undefined {
  if (kept.table !== found.table) return 'is another table than before, with the same name'
  if (!found.isLogged) return 'is not logged any more'
  const isAnew = isRewritten(kept, found)
  const maySwap = mayBeRenamed(kept, found)
  for (const [before, after] of pairsOf(kept, found)) {
    const fault = columnFault(before, after, isAnew, maySwap, hasMoved)
    if (fault !== undefined) return fault
  }
  if (!kept.unique.some((entry) => found.unique.includes(entry))) {
    return `has another unique index than before on "${kept.columns.key?.name}", the key, or none`
  }
  return publicationFault(kept, found, isAnew)
}

/** Whether a name of a used column may have been that of another one meanwhile: it is written into the rows of both. */
export function mayBeRenamed(kept: TableIdentity, found: TableIdentity): boolean {
  const changed = pairsOf(kept, found).flatMap(([before, after]) =>
    before.row === after?.row ? [] : before.number,
  )
  if (changed.length === 0) return false
  return new Set(changed).size > 1 || kept.otherColumns !== found.otherColumns
}

function pairsOf(kept: TableIdentity, found: TableIdentity) {
  return Object.entries(kept.columns).map(
    ([role, column]) => [column, found.columns[role as keyof typeof kept.columns]] as const,
  )
}

/** Whether a used column is at another place in rows that come than in those of a table. */
export function isMoved({ columns }: TableIdentity, relation: Relation): boolean {
  const names = relation.columns.map(({ name }) => name)
  return Object.values(columns).some(
    ({ name, before }) => before !== undefined && names.indexOf(name) !== before.length,
  )
}

/** Whether a transaction had ended before the table was looked up: what it did shows there. */
export function isBefore(xid: number, { horizon }: TableIdentity): boolean {
  // Numbers begin anew after 2^32.
  return horizon !== undefined && ((horizon - xid) | 0) > 0
}

function columnFault(
  kept: ColumnIdentity,
  found: ColumnIdentity | undefined,
  isAnew: boolean,
  maySwap: boolean,
  hasMoved: boolean,
): string | undefined {
  if (found === undefined) return `has no column "${kept.name}" any more`
  const column = `"${found.name}"`
  if (found.number !== kept.number) return `has another column ${column} than before`
  if (found.type !== kept.type) return `has the column ${column} with another type than before`
  if (!kept.labels.every((label) => found.labels.includes(label))) {
    return `has a column ${column} whose type had labels renamed`
  }
  if (found.row === kept.row) return undefined
  if (isAnew) return `was written anew, maybe with other values of ${column}`
  if (!maySwap) return undefined
  if (found.definition === kept.definition) {
    return `has a column ${column} that was changed, and looks as before`
  }
  if (kept.before !== undefined && !isDeepStrictEqual(found.before, kept.before)) {
    return `has a column ${column} that was changed, and lost one before it`
  }
  return hasMoved ? `had a column ${column} at another place meanwhile` : undefined
}

function publicationFault(
  kept: TableIdentity,
  found: TableIdentity,
  isAnew: boolean,
): string | undefined {
  const [before, after] = [kept.publication, found.publication]
  if (before === undefined) return undefined
  if (after === undefined) return `has no publication "${before.name}" any more`
  if (after.oid !== before.oid) return 'has another publication than before, of the same name'
  // It may have left out changes meanwhile, whatever it says now.
  if (after.row !== before.row) return 'has a publication whose options or owner were changed'
  const lasting = before.members.filter((entry) => after.members.includes(entry))
  if (lasting.length === 0) return 'was taken out of the publication meanwhile'
  // Only a table that is named in a publication cannot become UNLOGGED, which writes it anew twice.
  if (!isAnew || lasting.some((entry) => entry.startsWith('table '))) return undefined
  return 'was written anew, and may have been UNLOGGED meanwhile'
}
