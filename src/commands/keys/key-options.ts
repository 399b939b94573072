/**
 * What an operator writes of a key on the command line.
 *
 * @module
 */
import { X509Certificate } from 'node:crypto'
import { OperatorError } from '../../errors.js'
import { type KeyScope, keyScopes } from '../../interface/key-scopes.js'
import { boundaryFault } from '../../keys/key-record.js'
import { limits } from '../../limits.js'
import { isRefusal, whyUnread } from '../../system-refusals.js'
import { readBeginning } from './read-beginning.js'

export interface KeyFlags {
  readonly data?: string
  readonly name?: string
  readonly scopes?: string
  readonly boundary?: string
  readonly expires?: string
  readonly requestsPerSecond?: string
  readonly rowsPerDay?: string
  readonly concurrentLists?: string
  readonly certificate?: string
  readonly secretFile?: string
  readonly keepOld?: string
  readonly finish?: true
  readonly json?: true
}

/** One that stands in logs, tables and commands as it is. */
export function keyNameOf(text = ''): string {
  if (text.length <= limits.keyNameCharCount && /^[a-z0-9][a-z0-9._-]*$/.test(text)) return text
  throw usage(
    `--name must be 1 to ${limits.keyNameCharCount} of a-z, 0-9, dot, dash and underscore, beginning with ` +
      `a letter or digit, such as desk-3, not ${JSON.stringify(text)}`,
  )
}

export function scopesOf(text = ''): KeyScope[] {
  const given = text.split(',').map((part) => part.trim())
  const found = given.flatMap((part): readonly KeyScope[] => {
    const exact = keyScopes.filter((scope) => scope === part)
    if (exact.length > 0) return exact
    const pair = keyScopes.filter((scope) => scope.startsWith(`${part}:`))
    if (pair.length > 0) return pair
    throw usage(
      `--scopes must be some of ${keyScopes.join(', ')}, separated by commas, or config, contexts or ` +
        `suppressions for both of theirs, not ${JSON.stringify(part)}`,
    )
  })
  return [...new Set(found)]
}

/** The day that is named belongs to it. */
export function expiryOf(text: string, nowMs: number): string {
  const afterMs = durationMsOf(text)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const endMs =
    afterMs !== undefined
      ? nowMs + afterMs
      : isDay
        ? Date.parse(text) + DAY_MS
        : isTime
          ? Date.parse(text)
          : Number.NaN
  const isReal =
    endMs <= MAX_MS && (!isDay || new Date(endMs - DAY_MS).toISOString().startsWith(text))
  if (!isReal) {
    throw usage(
      '--expires must be a day such as 2027-01-31, a time such as 2027-01-31T12:00Z, or a time from now ' +
        `such as 90d or 12h, not ${JSON.stringify(text)}`,
    )
  }
  if (endMs <= nowMs) {
    throw usage(`--expires ${text} is over already: name a time to come, such as 90d`)
  }
  return new Date(endMs).toISOString()
}

/** How long an old secret lives on. */
export function keepMsOf(text: string | undefined): number {
  if (text === undefined) return limits.keyRotationMs
  const ms = text === '0' ? 0 : durationMsOf(text)
  if (ms !== undefined && ms <= limits.keyRotationMaxMs) return ms
  throw usage(
    `--keep-old must be 0 or a time such as 12h or 7d, ${limits.keyRotationMaxMs / DAY_MS}d at most, ` +
      `not ${JSON.stringify(text)}`,
  )
}

export function wholeNumberOf(text: string, flag: string, max: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= max) return number
  throw usage(`${flag} must be a whole number from 1 to ${max}, not ${JSON.stringify(text)}`)
}

/**
 * The SHA-256 of a certificate in hexadecimal digits.
 *
 * @throws OperatorError  InputRejected, when the file has none
 */
export function certificateIn(path: string): string {
  try {
    // Of several ones the first: those behind it are of authorities.
    const { fingerprint256 } = new X509Certificate(readBeginning(path, limits.tlsFileBytes))
    return fingerprint256.replaceAll(':', '').toLowerCase()
  } catch (fault) {
    const problem = isRefusal(fault)
      ? whyUnread(fault)
      : 'is no certificate: name the PEM file of what the client shows'
    throw new OperatorError('InputRejected', `certificate ${path} ${problem}; no key was changed`)
  }
}

/** @throws OperatorError  InputRejected, when the file has no boundary that can be applied */
export function boundaryIn(path: string): object {
  const most = limits.keyBoundaryBytes
  const bytes = beginningOf(path, most + 1)
  if (bytes.length > most) throw rejected(path, `has more than ${most} bytes: simplify it`)
  let boundary: unknown
  try {
    boundary = JSON.parse(bytes.toString())
  } catch (fault) {
    if (!(fault instanceof SyntaxError)) throw fault
    throw rejected(path, 'is not JSON: a boundary is GeoJSON or an Esri polygon')
  }
  if (typeof boundary !== 'object' || boundary === null || Array.isArray(boundary)) {
    throw rejected(path, 'is no object: a boundary is GeoJSON or an Esri polygon')
  }
  const fault = boundaryFault(boundary)
  if (fault !== undefined) throw rejected(path, `is no boundary of a key: ${fault}`)
  return boundary
}

function beginningOf(path: string, maxBytes: number): Buffer {
  try {
    return readBeginning(path, maxBytes)
  } catch (fault) {
    throw rejected(path, whyUnread(fault))
  }
}

function durationMsOf(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS]
}

const DAY_MS = 86_400_000
const UNITS_MS = { m: 60_000, h: 3_600_000, d: DAY_MS }
/** The end of the year 9999, the last one with four digits. */
const MAX_MS = 253_402_300_799_999

function usage(message: string): OperatorError {
  return new OperatorError('Usage', message)
}

function rejected(path: string, problem: string): OperatorError {
  return new OperatorError('InputRejected', `--boundary ${path} ${problem}; no key was made`)
}
