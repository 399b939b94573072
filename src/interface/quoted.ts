/**
 * Numbers and flags in quotation marks: forms and queries have no others, and some clients quote all
 * values.
 *
 * @module
 */

/** @returns undefined for what is neither a number nor a text that is one as JSON writes it */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined
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
