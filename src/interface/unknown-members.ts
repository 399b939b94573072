/**
 * Members that a request has and nobody knows. Most are misspelt, and to ignore one would answer another
 * question than the one that was meant: who writes `countOnly` gets phone numbers instead of counts.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { nearestName } from './near-miss.js'

/** What becomes of them: the request is refused, or the answer warns. */
export type UnknownMembers = 'refuse' | 'warn'

/** Takes what is wrong with one member: throws it, or makes a warning of it. */
export type OnUnknown = (fault: ServiceError) => void

export const refuseUnknown: OnUnknown = (fault) => {
  throw fault
}

/**
 * What is wrong with a member, and what was probably meant.
 *
 * @param path  of the object that has it; empty for the request itself
 * @param known  the names that the object may have
 */
export function unknownMember(path: string, name: string, known: readonly string[]): ServiceError {
  const meant = nearestName(name, known)
  if (meant !== undefined) return unknownName(path, name, `do you mean ${meant}?`)
  const names = known.length === 0 ? 'there are none' : `known are ${known.join(', ')}`
  return unknownName(path, name, names)
}

/** @param advice  what was probably meant, or where the member belongs */
export function unknownName(path: string, name: string, advice: string): ServiceError {
  // A name is repeated, so that it can be corrected, unless it could be a phone number.
  if (!MEMBER_NAME.test(name)) {
    const where = path === '' ? 'the request' : path
    const problem = `${where} has a member whose name is not known and not repeated here`
    const quoted = name.startsWith("'") ? '; names are in double quotes, or in none' : ''
    return new ServiceError('UnknownMember', `${problem}${quoted}; ${advice}`, path || undefined)
  }
  const field = path === '' ? name : `${path}.${name}`
  return new ServiceError('UnknownMember', `${field} is not known: ${advice}`, field)
}

const MEMBER_NAME = /^[A-Za-z_$][A-Za-z_$.-]{0,63}[0-9]{0,3}$/
