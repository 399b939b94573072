/**
 * The columns of an operator's query, and the statement that copies what is used of them.
 *
 * @module
 */
import type { Client, QueryConfig } from 'pg'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { ColumnNames } from '../batch.js'
import type { ChosenColumns } from '../choose-columns.js'
import { chooseColumns } from '../choose-columns.js'
import { queryFault } from './faults.js'
import { type DatabaseAddress, shownUrl } from './url.js'

/** A column of the query with the name of its type, and how it can be used. */
interface Column {
  readonly name: string
  readonly index: number
  readonly typeName: string
  /** As of `pg_type.typcategory`. */
  readonly category: string
  /** Where the type is, as SQL: the functions of PostGIS are in the same place. */
  readonly typeSchema: string
  readonly use: 'text' | 'float' | 'integer' | 'decimal' | 'identifier' | 'geometry' | 'none'
}

/** Fields of a copied row; those of columns that are not there are null. */
export const fields = { phone: 0, contact: 1, key: 2, lat: 3, lng: 4, pointFault: 5 } as const
export const FIELD_COUNT = 6
/** Of the field `pointFault`, a boolean, where there is a geometry that is no point. */
export const NOT_POINT = 1

export interface CopyPlan {
  readonly chosen: ChosenColumns
  /** Of the columns by name; those of domains are what these are made of. */
  readonly typeNames: ReadonlyMap<string, string>
  /** The COPY statement. */
  readonly text: string
  /** Whether the fields are an 8-byte number; otherwise they are texts. */
  readonly isLatBinary: boolean
  readonly isLngBinary: boolean
}

/** Asks the server what the query gives, which also proves that it is a single SELECT. */
export async function planCopy(
  client: Client,
  address: DatabaseAddress,
  query: string,
  names: ColumnNames,
): Promise<CopyPlan> {
  const where = `the query of ${shownUrl(address)}`
  const columns = await describe(client, address, query)
  const geometry = geometryOf(columns, names, where)
  const plain = columns.filter(({ use }) => use !== 'geometry').map(({ name }) => name)
  if (geometry === undefined) {
    const found = columns.map(({ name }) => name)
    const chosen = chooseColumns(where, found, names)
    return plan(query, columns, chosen, undefined, where)
  }
  // The position is settled, so the guesses are asked about the other columns alone.
  const others = plain.filter((name) => name !== 'lat' && name !== 'lng')
  const wanted = { ...names, lat: 'lat', lng: 'lng' }
  const guessed = chooseColumns(where, [...others, 'lat', 'lng'], wanted)
  const chosen = { ...guessed, lat: geometry.name, lng: geometry.name }
  return plan(query, columns, chosen, geometry, where)
}

const CURSOR = 'hickory_import'
const PREFIX = `DECLARE ${CURSOR} NO SCROLL CURSOR FOR\n`

async function describe(
  client: Client,
  address: DatabaseAddress,
  query: string,
): Promise<Column[]> {
  if (query.trim() === '') throw new OperatorError('Usage', 'the query is empty: give a SELECT')
  try {
    // A cursor takes nothing but a SELECT, and the extended protocol nothing but one statement.
    const declare: QueryConfig & { queryMode: 'extended' } = {
      text: PREFIX + query,
      queryMode: 'extended',
    }
    await client.query(declare)
    const { fields: found } = await client.query(`FETCH 0 FROM ${CURSOR}`)
    await client.query(`CLOSE ${CURSOR}`)
    const { rows: types } = await client.query<{
      oid: number
      name: string
      category: string
      schema: string
    }>(
      `SELECT t.oid::integer AS oid, t.typname AS name, t.typcategory AS category,
         quote_ident(n.nspname) AS schema
       FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
       WHERE t.oid = ANY($1::oid[])`,
      [found.map(({ dataTypeID }) => dataTypeID)],
    )
    return found.map(({ name, dataTypeID }, index) => {
      const type = types.find(({ oid }) => oid === dataTypeID)
      const typeName = type?.name ?? 'unknown'
      const category = type?.category ?? ''
      const use = useOf(typeName, category)
      return { name, index, typeName, category, typeSchema: type?.schema ?? '', use }
    })
  } catch (error) {
    throw queryFault(error, address, query, PREFIX.length)
  }
}

function useOf(typeName: string, category: string): Column['use'] {
  if (['geometry', 'geography'].includes(typeName)) return 'geometry'
  if (['int2', 'int4', 'int8'].includes(typeName)) return 'integer'
  if (typeName === 'float8') return 'float'
  // A number of either is meant as it is written: 29.76 as float4 is not 29.76 as float8.
  if (typeName === 'numeric' || typeName === 'float4') return 'decimal'
  if (category === 'S') return 'text'
  return category === 'E' || typeName === 'uuid' ? 'identifier' : 'none'
}

/** The column of points that stands for latitude and longitude, if there is one. */
function geometryOf(
  columns: readonly Column[],
  names: ColumnNames,
  where: string,
): Column | undefined {
  const geometries = columns.filter(({ use }) => use === 'geometry')
  if (names.lat !== undefined || names.lng !== undefined) {
    const named = geometries.find(({ name }) => name === names.lat || name === names.lng)
    if (named === undefined) return undefined
    if (names.lat === names.lng) return named
    throw new OperatorError(
      'Usage',
      `${where}: "${named.name}" is a ${named.typeName}: name it with both --lat and --lng`,
    )
  }
  if (geometries.length === 0 || hasPosition(columns, names, where)) return undefined
  if (geometries.length === 1) return geometries[0]
  throw new OperatorError(
    'InputRejected',
    `${where} has several columns of geometry: name one with both --lat and --lng`,
  )
}

/** Whether there is a latitude and a longitude beside the geometry. */
function hasPosition(columns: readonly Column[], names: ColumnNames, where: string): boolean {
  const plain = columns.filter(({ use }) => use !== 'geometry').map(({ name }) => name)
  try {
    chooseColumns(where, plain, names)
    return true
  } catch (error) {
    if (error instanceof OperatorError) return false
    throw error
  }
}

function plan(
  query: string,
  columns: readonly Column[],
  chosen: ChosenColumns,
  geometry: Column | undefined,
  where: string,
): CopyPlan {
  const typeNames = new Map(columns.map(({ name, typeName }) => [name, typeName]))
  const find = (name: string | undefined) => columns.find((column) => column.name === name)
  const phone = identifier(find(chosen.number), where)
  const contact = identifier(find(chosen.contact), where)
  const key = identifier(find(chosen.key), where)
  const inner = innerSelect(query, columns)
  if (geometry !== undefined) {
    const { typeSchema: schema } = geometry
    // OFFSET 0 keeps the server from computing the point anew for each of its coordinates.
    const text = `SELECT number, contact, key, ${schema}.ST_Y(point), ${schema}.ST_X(point), fault
      FROM (SELECT ${phone} AS number, ${contact} AS contact, ${key} AS key, fault,
          CASE WHEN NOT fault THEN ${lonLat(schema)} END AS point
        FROM (SELECT *, ${pointFault(schema)} AS fault
          FROM (SELECT *, c${geometry.index}::${schema}.geometry AS shape ${inner}) AS shapes
        ) AS faults OFFSET 0) AS points`
    return { chosen, typeNames, text: copy(text), isLatBinary: true, isLngBinary: true }
  }
  const lat = coordinate(find(chosen.lat), where)
  const lng = coordinate(find(chosen.lng), where)
  return {
    chosen,
    typeNames,
    text: copy(`SELECT ${phone}, ${contact}, ${key}, ${lat.text}, ${lng.text}, NULL ${inner}`),
    isLatBinary: lat.isBinary,
    isLngBinary: lng.isBinary,
  }
}

function copy(select: string): string {
  return `COPY (${select}) TO STDOUT (FORMAT binary)`
}

/** Columns go by their places, so that their names need no quotation and may repeat. */
function innerSelect(query: string, columns: readonly Column[]): string {
  const aliases = columns.map(({ index }) => `c${index}`).join(', ')
  return `FROM (\n${query.replace(/[\s;]+$/, '')}\n) AS source(${aliases})`
}

/** The SQL for a phone, a contact or a key, as text. */
function identifier(column: Column | undefined, where: string): string {
  if (column === undefined) return 'NULL::text'
  const { index, typeName, use } = column
  if (use === 'text') return bounded(`c${index}::text`)
  if (use === 'integer' || use === 'identifier' || typeName === 'numeric') return `c${index}::text`
  throw wrongType(column, where, `a text or a whole number${adviceFor(column)}`)
}

/** None where the text of a value would be no number, but the notation of something else. */
function adviceFor({ name, typeName, category }: Column): string {
  if (typeName === 'float8' || isOfOwnNotation(typeName, category)) {
    return `: write "${name}"::text AS … in the query`
  }
  if (category === 'A') return `: take one of its elements in the query, as in "${name}"[1] AS …`
  if (/^jsonb?$/.test(typeName)) {
    return `: take the member with the number in the query, as in "${name}"->>'…' AS …`
  }
  return category === 'C' ? `: take one of its fields in the query, as in ("${name}").… AS …` : ''
}

/** Of types that an extension brings, such as one for telephone numbers. */
function isOfOwnNotation(typeName: string, category: string): boolean {
  return category === 'U' && !BUILT_IN_USER_TYPES.has(typeName)
}

const BUILT_IN_USER_TYPES: ReadonlySet<string> = new Set(
  'bytea,json,jsonb,xml,tsvector,tsquery,macaddr,macaddr8,hstore,pg_lsn,gtsvector,jsonpath,txid_snapshot,pg_snapshot,aclitem'.split(
    ',',
  ),
)

function coordinate(
  column: Column | undefined,
  where: string,
): { readonly text: string; readonly isBinary: boolean } {
  if (column === undefined) throw new Error('a latitude and a longitude are always chosen')
  const { index, use } = column
  if (use === 'float') return { text: `c${index}`, isBinary: true }
  if (use === 'integer') return { text: `c${index}::float8`, isBinary: true }
  if (use === 'decimal') return { text: `c${index}::text`, isBinary: false }
  if (use === 'text') return { text: bounded(`c${index}::text`), isBinary: false }
  throw wrongType(column, where, 'a number or a text with degrees in it')
}

/** A text that is far too long is rejected as its beginning is, and need not be held in memory. */
function bounded(text: string): string {
  const { recordBytes } = limits
  return `CASE WHEN octet_length(${text}) > ${recordBytes}
    THEN left(${text}, ${recordBytes / 4}) ELSE ${text} END`
}

/** Never null, and true for what is missing or empty, too. */
function pointFault(schema: string): string {
  return `(shape IS NULL OR ${schema}.ST_IsEmpty(shape)
    OR ${schema}.GeometryType(shape) NOT LIKE 'POINT%')`
}

/** Without an SRID, coordinates are taken for degrees. */
function lonLat(schema: string): string {
  return `CASE WHEN ${schema}.ST_SRID(shape) IN (0, 4326) THEN shape
    ELSE ${schema}.ST_Transform(shape, 4326) END`
}

function wrongType({ name, typeName }: Column, where: string, wanted: string): OperatorError {
  return new OperatorError(
    'InputRejected',
    `${where}: the column "${name}" is of type ${typeName} and should be ${wanted}`,
  )
}
