/**
 * The address of a PostgreSQL database: a URL as libpq reads it, and how it is shown.
 *
 * @module
 */
import { userInfo } from 'node:os'
import { OperatorError } from '../../errors.js'

export interface DatabaseAddress {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | undefined
  readonly database: string
  /** Settings of the session, such as `-c search_path=people`. */
  readonly options: string | undefined
  readonly sslMode: SslMode
  /** A file, or `system` for the authorities that Node.js trusts. */
  readonly sslRootCertificate: string | undefined
  readonly sslCertificate: string | undefined
  readonly sslKey: string | undefined
}

const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof sslModes)[number]

/** The parameters that a URL may have behind its question mark, and the variables for them. */
const parameters = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  options: 'PGOPTIONS',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const
type Parameter = keyof typeof parameters
type Values = Partial<Record<Parameter, string>>

const DEFAULT_PORT = 5432

/** Parts that the URL leaves open are taken from the variables that libpq knows. */
export function completeUrl(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const given = readValues(url)
  const values = { ...given }
  for (const name of Object.keys(parameters) as Parameter[]) {
    const value = environment[parameters[name]]
    if (given[name] === undefined && value !== undefined && value !== '') values[name] = value
  }
  return `postgres://?${new URLSearchParams(values)}`
}

/** @throws OperatorError `Usage`, which repeats nothing that may be part of a password */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const values = readValues(url)
  const user = values.user ?? userInfo().username
  return {
    host: values.host ?? 'localhost',
    port: readPort(values.port),
    user,
    password: values.password,
    database: values.dbname ?? user,
    options: values.options,
    sslMode: readSslMode(values),
    sslRootCertificate: values.sslrootcert,
    sslCertificate: values.sslcert,
    sslKey: values.sslkey,
  }
}

/** Whether a password stands in the URL itself. */
export function hasPassword(url: string): boolean {
  return readValues(url).password !== undefined
}

/** Without the password. */
export function shownUrl({ host, port, user, database }: DatabaseAddress): string {
  const start = `postgres://${encodeURIComponent(user)}@`
  if (isSocket(host)) return `${start}/${encodeURIComponent(database)}?host=${host}&port=${port}`
  const name = host.includes(':') ? `[${host}]` : host
  return `${start}${name}:${port}/${encodeURIComponent(database)}`
}

/** Where rows of the database are said to be. */
export function shownPlace({ host, database }: DatabaseAddress): string {
  return isSocket(host) ? database : `${host}/${database}`
}

export function isSocket(host: string): boolean {
  return host.startsWith('/')
}

function readValues(url: string): Values {
  if (!/^postgres(ql)?:\/\//.test(url)) throw notUrl('it must begin with postgres://')
  const authorityEnd = url.slice(url.indexOf('//') + 2).search(/[/?#]/)
  const tail = authorityEnd === -1 ? '' : url.slice(url.indexOf('//') + 2 + authorityEnd)
  // The text behind a character that ends the password too early must not be taken for a name.
  if (/[@#]/.test(tail)) {
    throw notUrl(
      'in a user name, a password or a parameter write %40 for @, %2F for /, %3A for :, %3F for ?, %23 for #',
    )
  }
  // libpq allows a user without a host, which is named by a parameter or is the usual one.
  const hasNoHost = /^[a-z]+:\/\/[^/?#]*@(?=[/?#]|$)/.exec(url)
  let parsed: URL
  try {
    parsed = new URL(
      hasNoHost === null ? url : `${hasNoHost[0]}none${url.slice(hasNoHost[0].length)}`,
    )
  } catch {
    throw notUrl('it cannot be read as a URL')
  }
  const values: Values = {}
  const set = (name: Parameter, value: string) => {
    if (value !== '') values[name] = value
  }
  set('user', decode(parsed.username))
  set('password', decode(parsed.password))
  if (hasNoHost === null) set('host', decode(parsed.hostname).replace(/^\[(.*)\]$/, '$1'))
  set('port', parsed.port)
  set('dbname', decode(parsed.pathname.slice(1)))
  for (const [name, value] of parsed.searchParams) {
    if (!Object.hasOwn(parameters, name)) {
      const shown = /^[a-z_]{1,40}$/.test(name) ? ` "${name}"` : ''
      throw notUrl(
        `its parameter${shown} is not known; known are ${Object.keys(parameters).join(', ')}`,
      )
    }
    set(name as Parameter, value)
  }
  return values
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw notUrl('a % in it is not followed by two hexadecimal digits; write %25 for %')
  }
}

function readPort(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw notUrl('its port is not a number from 1 to 65535')
}

function readSslMode({ sslmode, sslrootcert }: Values): SslMode {
  const isSystem = sslrootcert === 'system'
  if (sslmode === undefined) return isSystem ? 'verify-full' : 'prefer'
  const mode = sslModes.find((known) => known === sslmode)
  if (mode === undefined) throw notUrl(`sslmode must be one of ${sslModes.join(', ')}`)
  if (isSystem && mode !== 'verify-full') {
    throw notUrl('sslrootcert=system needs sslmode=verify-full')
  }
  return mode
}

function notUrl(what: string): OperatorError {
  return new OperatorError(
    'Usage',
    `the address of the database is not one such as postgres://user@host:5432/database: ${what}`,
  )
}
