/**
 * Numbers and flags in quotation marks: forms and queries have no others, and some clients quote all
 * values.
 *
 * @module
 */
import { ServiceError } from '../errors.js'

/** @returns undefined for what is neither a number nor a text that is one as JSON writes it */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined
}

/** What a schema may say of a number. */
interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

/**
 * A whole number within the bounds of its schema: the one rule for all members.
 *
 * @throws ServiceError  InvalidRequest, with the bounds
 */
export function wholeNumber(value: unknown, field: string, schema: object): number {
  const bounds: Bounds = schema
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = bounds
  const number = numberOf(value) ?? Number.NaN
  if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number
  const problem = `must be a whole number${rangeOf(bounds)}`
  throw new ServiceError('InvalidRequest', `${field} ${problem}`.trim(), field || undefined)
}

function rangeOf({ minimum, maximum = Number.MAX_SAFE_INTEGER }: Bounds): string {
  if (minimum === undefined) return ''
  if (maximum === Number.MAX_SAFE_INTEGER) return `, ${minimum} or more`
  return ` from ${minimum} to ${maximum.toLocaleString('en-US')}`
}

/** @returns undefined for what is none of true, false, 1 and 0, quoted or not, in any letter case */
export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value).trim().toLowerCase()
  if (text === 'true' || text === '1') return true
  return text === 'false' || text === '0' ? false : undefined
}

/** One of several names, in any letter case or by its place among them, as enumerations are sent. */
export function nameOf<Name extends string>(
  names: readonly Name[],
  value: unknown,
): Name | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const name = names.find((each) => each.toLowerCase() === text.toLowerCase())
  return name ?? (/^\d{1,9}$/.test(text) ? names[Number(text)] : undefined)
}

const NUMBER = /^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/
