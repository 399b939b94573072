/**
 * Which column of an input is what: as the operator says, or guessed from the names.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import type { ColumnNames } from './batch.js'

/** The name of the column that is used for each, or undefined. */
export interface ColumnChoice {
  readonly number: string
  readonly lat: string
  readonly lng: string
  readonly contact: string | undefined
  readonly key: string | undefined
}

type Role = keyof ColumnChoice

/** The column that is used for each; undefined for what no column is used for. */
export type ChosenColumns = Readonly<Record<Role, string | undefined>>

/** What a column may be called, without spaces, dashes, underscores and case. */
const synonyms: Readonly<Record<Role, readonly string[]>> = {
  number: (
    'number,phone,phonenumber,phoneno,phonenr,telephone,telephonenumber,telephoneno,tel,telno,telnumber,' +
    'mobile,mobilephone,mobilenumber,mobileno,cell,cellphone,cellnumber,msisdn,e164,recipientnumber'
  ).split(','),
  lat: 'latitude,y,ycoord,ycoordinate,latdeg,latwgs84,wgs84lat'.split(','),
  lng: 'lon,long,longitude,x,xcoord,xcoordinate,lngdeg,londeg,lngwgs84,wgs84lng,lonwgs84'.split(
    ',',
  ),
  contact: 'contact,contactid,contactkey,contactref,personid,person,recipientid,customerid'.split(
    ',',
  ),
  // A wrong guess would drop rows.
  key: [],
}

/** A column with the name of one of these is it, whatever other columns there are: the others say the same, or metres. */
const winning: readonly Role[] = ['lat', 'lng']

const required: readonly Role[] = ['number', 'lat', 'lng']
const optional: readonly Role[] = ['contact', 'key']

/** The names that messages may repeat: not a value in the place of a lost header. */
const NAME = /^[\p{L}_][\p{L}\p{N}_ .-]{0,39}$/u
const NAMES_SHOWN = 20
/** What PostgreSQL calls a column of a query that has no name. */
const UNNAMED = '?column?'

/**
 * Chooses columns by name. A plain name (lat, lng) wins over other names. `number` and `contact` do not: beside another
 * it is mostly the number of a house or of a row, or the name of a person.
 *
 * @param found  the names that the input has
 * @throws OperatorError  `InputRejected` if a column is missing, or if it is not clear which it is
 */
export function chooseColumns(
  file: string,
  found: readonly string[],
  wanted: ColumnNames,
): ColumnChoice {
  const name = (role: Role) => chooseColumn(file, found, role, wanted[role])
  const chosen = Object.fromEntries(optional.map((role) => [role, name(role)]))
  for (const role of required) {
    const column = name(role)
    if (column === undefined) throw missing(file, found, role)
    chosen[role] = column
  }
  return chosen as unknown as ColumnChoice
}

/** The columns that may be that of the numbers, where no name is given. */
export function numberColumns(found: readonly string[]): string[] {
  return candidates(found, 'number', undefined)
}

/** Whether `chooseColumns` would find every column that is needed. */
export function hasColumns(found: readonly string[], wanted: ColumnNames): boolean {
  return required.every((role) => candidates(found, role, wanted[role]).length > 0)
}

function chooseColumn(
  file: string,
  found: readonly string[],
  role: Role,
  wanted: string | undefined,
): string | undefined {
  const names = candidates(found, role, wanted)
  if (names.length === 0 && wanted !== undefined) {
    throw new OperatorError(
      'InputRejected',
      `${file} has no column "${wanted}" (--${role}): ${shown(found)}`,
    )
  }
  if (names.length <= 1) return names[0]
  const [first, second] = names.map(shownName)
  throw new OperatorError(
    'InputRejected',
    first.toLowerCase() === second.toLowerCase()
      ? `${file} has more than one column "${first}": rename all but one`
      : `${file} has the columns "${first}" and "${second}", either may be the ${role}: ` +
          `name one of them with --${role}, or as "${role}" of "columns" in a file for --all`,
  )
}

/** All that it may be, of the first kind of which there is any; a name that occurs twice is there twice. */
function candidates(found: readonly string[], role: Role, wanted: string | undefined): string[] {
  const plain = (name: string) => name.trim().toLowerCase()
  const bare = (name: string) => plain(name).replace(/[\s_-]/g, '')
  const tests: ((name: string) => boolean)[] =
    wanted === undefined
      ? [
          (name) => winning.includes(role) && plain(name) === role,
          (name) => winning.includes(role) && bare(name) === role,
          (name) => synonyms[role].includes(bare(name)),
        ]
      : [(name) => name === wanted, (name) => plain(name) === plain(wanted)]
  for (const test of tests) {
    const names = found.filter(test)
    if (names.length > 0) return names
  }
  return []
}

function missing(file: string, found: readonly string[], role: Role): Error {
  const isUnread = found.some((name) => shownName(name) === '?')
  const header = isUnread ? '; is there a header at all? The first line must name the columns' : ''
  const hint = found.includes(UNNAMED) ? '; name the columns of the query with AS' : header
  return new OperatorError(
    'InputRejected',
    `${file} has no column "${role}", nor one that is known to mean it: ${shown(found)}; ` +
      `needed are number, lat, lng: name the right one with --${role}${hint}`,
  )
}

function shown(found: readonly string[]): string {
  return found.length === 0 ? 'no header could be read' : `found ${shownNames(found)}`
}

/** The first of them; ? for what may be a value. */
export function shownNames(names: readonly string[]): string {
  const rest = names.length > NAMES_SHOWN ? ', …' : ''
  return `${names.slice(0, NAMES_SHOWN).map(shownName).join(', ')}${rest}`
}

function shownName(name: string): string {
  return NAME.test(name.trim()) ? name.trim() : '?'
}
