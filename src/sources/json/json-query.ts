/**
 * The rows of a file of JSON lines in SQL: objects, or GeoJSON Features.
 *
 * @module
 */
import { WGS84_NAME } from '../../geometry/degrees.js'
import type { ColumnChoice } from '../choose-columns.js'
import { quote } from '../files/database.js'
import { type PointChoice, pointRows, wktOfHex } from '../rows/point-column.js'
import type { RowSource, Rule } from '../rows/row-query.js'

/** A control character that JSON does not have: all of a line is one field. */
export const JSON_DELIMITER = '\x1f'
/** The sign before each text of a GeoJSON text sequence (RFC 8142). */
const RECORD_SEPARATOR = '\x1e'

/** A text or a whole number as it stands in JSON. */
const SCALAR = '("|-?[0-9]+$)'

/** Objects, one a line. @param from  of `readText` */
export function objectRows(from: string, { chosen, point }: PointChoice): RowSource {
  const pointers = {
    number: member(chosen.number),
    lat: member(chosen.lat),
    lng: member(chosen.lng),
    contact: chosen.contact === undefined ? undefined : member(chosen.contact),
    key: chosen.key === undefined ? undefined : member(chosen.key),
  }
  return jsonRows(from, 'c0', pointers, {}, [], point !== undefined)
}

/** Features with a Point each, one a line. @param from  of `readText` */
export function featureRows(from: string, chosen: ColumnChoice): RowSource {
  const property = (name: string) => `/properties${member(name)}`
  const pointers = {
    number: property(chosen.number),
    lat: '/geometry/coordinates/1',
    lng: '/geometry/coordinates/0',
    contact: chosen.contact === undefined ? undefined : property(chosen.contact),
    key: chosen.key === undefined ? undefined : property(chosen.key),
  }
  const types = {
    ...{ type: '/type', geometry_type: '/geometry/type' },
    ...{ crs: '/crs', crs_name: '/crs/properties/name' },
    ...{ geometry_crs: '/geometry/crs', geometry_crs_name: '/geometry/crs/properties/name' },
  }
  const rows = jsonRows(from, `ltrim(c0, ${quote(RECORD_SEPARATOR)})`, pointers, types, [
    [`type IS NULL OR type <> 'Feature'`, 'FeatureInvalid'],
    [`${isForeign('crs')} OR ${isForeign('geometry_crs')}`, 'GeometryProjected'],
    [`geometry_type IS NULL OR geometry_type <> 'Point'`, 'GeometryNotPoint'],
  ])
  // The pointers lead to other positions in the list of a line, and to rings in that of a polygon.
  const hasPosition = `geometry_type = 'Point' AND NOT is_repeated
    AND NOT regexp_matches(concat(lat_read, ' ', lng_read), '(^| )[\\[{]')`
  return { ...rows, hasPosition }
}

function isForeign(crs: string): string {
  return `(${crs} IS NOT NULL
    AND NOT coalesce(regexp_full_match(${crs}_name, '${WGS84_NAME}', 'i'), false))`
}

function jsonRows(
  from: string,
  line: string,
  { number, lat, lng, contact, key }: Record<string, string | undefined>,
  types: Readonly<Record<string, string>>,
  typeRules: readonly Rule[],
  isPoint = false,
): RowSource {
  const pointers: string[] = []
  /** The place of what a pointer leads to, in a list that begins with 1. */
  const place = (pointer: string) => pointers.push(pointer)
  const text = (pointer: string) => `texts[${place(pointer)}]`
  const columns = {
    number: text(number as string),
    lat: { text: text(lat as string) },
    lng: { text: text(lng as string) },
    ...(contact === undefined ? {} : { contact: text(contact) }),
    ...(key === undefined ? {} : { key: text(key) }),
  }
  const kinds = {
    number_json: `jsons[1]`,
    ...(contact === undefined ? {} : { contact_json: 'jsons[4]' }),
  }
  const further = Object.fromEntries(
    Object.entries(types).map(([name, pointer]) => [name, text(pointer)]),
  )
  const list = `[${pointers.map(quote).join(', ')}]`
  const rules: Rule[] = [
    ['NOT is_object OR is_repeated', 'JsonInvalid'],
    ...typeRules,
    [notScalar('number_json'), 'NumberInvalid'],
  ]
  if (contact !== undefined) rules.push([notScalar('contact_json'), 'ContactInvalid'])
  // A line that is not JSON would end the query if anything was taken from it.
  const lines = `(
      SELECT is_object, is_object AND ${isRepeated(pointers)} AS is_repeated,
        CASE WHEN is_object THEN json_extract_string(line, ${list}) END AS texts,
        CASE WHEN is_object THEN json_extract(line, ${list}) END AS jsons
      FROM (
        SELECT line, ascii(ltrim(line, ' \t')) = ${'{'.charCodeAt(0)} AND json_valid(line) AS is_object
        FROM (SELECT ${line} AS line FROM ${from} WHERE c0 <> '')
      )
    )`
  const position = isPoint ? pointRows(lines, wktOfHex(columns.lat.text)) : undefined
  return {
    ...columns,
    further: {
      ...further,
      ...kinds,
      ...position?.further,
      is_object: 'is_object',
      is_repeated: 'is_repeated',
    },
    rules: [...rules, ...(position?.rules ?? [])],
    from: lines,
    ...(position && { from: position.from, lat: position.lat, lng: position.lng }),
  }
}

/**
 * Whether an object has a member twice: the first one would count here, and the last one elsewhere. Only
 * lines that have a name twice that matters are looked at, which costs next to nothing.
 */
function isRepeated(pointers: readonly string[]): string {
  const names = pointers.flatMap((pointer) => pointer.split('/').slice(1))
  const twice = [...new Set(names)]
    .filter((name) => name !== 'type' && name !== 'name' && !/^[01]$/.test(name))
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((name) => quote(JSON.stringify(name)))
    .map((name) => `contains(substr(line, strpos(line, ${name}) + 1), ${name})`)
  return `CASE WHEN ${twice.join(' OR ')} THEN
    list_bool_or([len(names) <> list_unique(names)
      FOR names IN json_keys(line, ['', '/geometry', '/properties'])]) IS TRUE ELSE false END`
}

/** As a JSON pointer. */
function member(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function notScalar(json: string): string {
  return `${json} IS NOT NULL AND ${json}::VARCHAR <> 'null'
    AND NOT regexp_matches(${json}::VARCHAR, '^${SCALAR}')`
}

const LINES_READ = 1_000

/**
 * The names of members that JSON lines have, as far as the beginning of a file tells.
 *
 * @param pick  the part of a line that has the names
 */
export function jsonNames(head: Buffer, pick: (line: object) => unknown): string[] {
  const names = new Set<string>()
  // The last line may be cut in two, and then is no JSON.
  for (const line of head.toString().split(/[\r\n]+/, LINES_READ)) {
    const record = parsed(line.slice(line.indexOf('{')))
    const named = isObject(record) ? pick(record) : undefined
    if (isObject(named)) for (const name of Object.keys(named)) names.add(name)
  }
  return [...names]
}

/** Whether the first object of a file goes on behind its line, as programs write it for people, or is not JSON. */
export function firstLineFault(head: Buffer): 'spread' | 'not JSON' | undefined {
  const [line = '', second] = head
    .toString()
    .trim()
    .split(/[\r\n]+/, 2)
  const first = line.slice(Math.max(0, line.indexOf('{')))
  if (second === undefined || parsed(first) !== undefined) return undefined
  const marks = first.replace(/"(?:[^"\\]|\\.)*"/g, '')
  return marks.split(/[[{]/).length > marks.split(/[\]}]/).length ? 'spread' : 'not JSON'
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
