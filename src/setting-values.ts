/**
 * What an operator may write as a setting.
 *
 * Each function throws OperatorError, Usage, that names the value, where it came from and what is allowed.
 *
 * @module
 */
import { resolve } from 'node:path'
import { OperatorError } from './errors.js'

/** A value, and where it came from. */
export interface Setting {
  readonly value: unknown
  readonly origin: string
}

export function text({ value, origin }: Setting): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new OperatorError('Usage', `${origin} must be a text that is not empty`)
}

/** Requests to the admin listener need no key, so that only this machine may reach it. */
export function loopback(setting: Setting): string {
  const host = text(setting)
  if (/^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host)) return host
  throw new OperatorError(
    'Usage',
    `${setting.origin} must be an address of this machine alone, such as 127.0.0.1 or ::1, not ` +
      `${JSON.stringify(host)}: admin requests need no key. For others, let a proxy that asks who they ` +
      'are forward to it',
  )
}

/** A path, or `-`. */
export function target(setting: Setting): string {
  return setting.value === '-' ? '-' : path(setting)
}

/** Absolute. */
export function path(setting: Setting): string {
  return resolve(text(setting))
}

/** Separated by commas; an empty text for none. */
export function origins({ value, origin }: Setting): readonly string[] {
  const given = typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [value]
  const named = given.filter((item) => item !== '')
  for (const item of named) {
    if (typeof item === 'string' && (item === '*' || /^https?:\/\/[^/\s]+$/.test(item))) continue
    throw new OperatorError(
      'Usage',
      `${origin} must be origins such as https://map.example.org, separated by commas, or *, ` +
        `not ${JSON.stringify(item)}`,
    )
  }
  return named as string[]
}

/** Address of pages and programs: scheme, host and port, and a path where a proxy adds one; an empty text for none. */
export function urlIfGiven({ value, origin }: Setting): string | undefined {
  if (value === '') return undefined
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && !/[@?#]/.test(String(value))) {
    return url.href.replace(/\/+$/, '')
  }
  throw new OperatorError(
    'Usage',
    `${origin} must be an address such as https://alerts.example.org, not ${JSON.stringify(value)}`,
  )
}

/** Separated by white space; an empty text for none. */
export function options({ value, origin }: Setting): readonly string[] {
  if (typeof value === 'string') {
    const given = value.split(/\s+/).filter((item) => item !== '')
    if (given.every((item) => item.startsWith('-'))) return given
  }
  throw new OperatorError(
    'Usage',
    `${origin} must be options of Node.js such as --cpu-prof, separated by spaces, ` +
      `not ${JSON.stringify(value)}`,
  )
}

export function integer({ value, origin }: Setting, min: number, max: number): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
    return number
  }
  throw new OperatorError(
    'Usage',
    `${origin} must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`,
  )
}

export function truth(setting: Setting): boolean {
  return oneOf(setting, ['false', 'true']) === 'true'
}

/** In a file, a truth value may be one of JSON. */
export function oneOf<Value extends string>(
  { value, origin }: Setting,
  values: readonly Value[],
): Value {
  const text = typeof value === 'boolean' ? String(value) : value
  const found = values.find((candidate) => candidate === text)
  if (found !== undefined) return found
  throw new OperatorError(
    'Usage',
    `${origin} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`,
  )
}

/** What stands in subjects of NATS, in tables and in logs. */
export function clusterId(setting: Setting): string {
  return matching(
    setting,
    /^[a-z0-9][a-z0-9_-]{0,31}$/,
    '1 to 32 of a-z, 0-9, _ and -, such as alerts',
  )
}

/** As the id of a cluster. */
export function machineName(setting: Setting): string {
  return matching(setting, /^[a-z0-9][a-z0-9-]{0,31}$/, '1 to 32 of a-z, 0-9 and -, such as site-a')
}

function matching(setting: Setting, pattern: RegExp, what: string): string {
  const value = text(setting)
  if (pattern.test(value)) return value
  throw new OperatorError(
    'Usage',
    `${setting.origin} must be ${what}, not ${JSON.stringify(value)}`,
  )
}

/** Addresses, separated by commas. */
export function natsServers(setting: Setting): readonly string[] {
  return addresses(setting, /^(nats|tls):\/\/[^\s/@]+$/, 'NATS such as nats://10.0.0.1:4222')
}

/** Addresses, separated by commas. */
export function natsMonitors(setting: Setting): readonly string[] {
  const pattern = /^https?:\/\/[^\s/@?#]+\/?$/
  return addresses(setting, pattern, 'monitors of NATS such as http://10.0.0.1:8222')
}

function addresses(setting: Setting, pattern: RegExp, what: string): readonly string[] {
  const named = text(setting)
    .split(',')
    .map((item) => item.trim())
  for (const item of named) {
    if (pattern.test(item) && URL.canParse(item)) continue
    throw new OperatorError(
      'Usage',
      `${setting.origin} must be addresses of ${what}, separated by commas, without names and passwords, ` +
        `not ${JSON.stringify(item)}`,
    )
  }
  return named
}
