/**
 * The address of a PostgreSQL database: a URL as libpq reads it, and how it is shown.
 *
 * @module
 */
import { userInfo } from 'node:os'
import { OperatorError } from '../../errors.js'

export interface DatabaseAddress {
  /** Tried in this order. */
  readonly servers: readonly DatabaseServer[]
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
  /** Whether a server that only reads, such as a standby, is passed over. */
  readonly mustWrite: boolean
  /** Undefined: as long as `limits` says. */
  readonly connectMs: number | undefined
  /** Undefined: the name of the command. */
  readonly applicationName: string | undefined
}

export interface DatabaseServer {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
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
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  application_name: 'PGAPPNAME',
} as const
type Parameter = keyof typeof parameters
type Values = Partial<Record<Parameter, string>>

const DEFAULT_PORT = 5432
const CONNECT_SECONDS_MAX = 600

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
  const user = values.user ?? systemUser()
  return {
    servers: readServers(values),
    user,
    password: values.password,
    database: values.dbname ?? user,
    options: values.options,
    sslMode: readSslMode(values),
    sslRootCertificate: values.sslrootcert,
    sslCertificate: values.sslcert,
    sslKey: values.sslkey,
    mustWrite: readMustWrite(values.target_session_attrs),
    connectMs: readConnectMs(values.connect_timeout),
    applicationName: values.application_name,
  }
}

function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    throw new OperatorError(
      'Usage',
      'the user of this process has no name on this system, as in a container: name one in the URL, ' +
        'postgres://USER@HOST/DATABASE, or by PGUSER',
    )
  }
}

/** Whether a password stands in the URL itself. */
export function hasPassword(url: string): boolean {
  return readValues(url).password !== undefined
}

/** Without the password. */
export function shownUrl({ servers, user, database }: DatabaseAddress): string {
  const start = `postgres://${encodeURIComponent(user)}@`
  const [{ host, port }] = servers
  if (servers.length === 1 && isSocket(host)) {
    return `${start}/${encodeURIComponent(database)}?host=${host}&port=${port}`
  }
  return `${start}${servers.map(shownServer).join(',')}/${encodeURIComponent(database)}`
}

export function shownServer({ host, port }: DatabaseServer): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Where rows of the database are said to be. */
export function shownPlace({ servers, database }: DatabaseAddress): string {
  const hosts = servers.map(({ host }) => host)
  return isSocket(hosts[0]) ? database : `${hosts.join()}/${database}`
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
  // libpq allows several hosts, each with a port, and a user without any; `URL` allows neither.
  const [start, hosts] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? ['', '']
  let parsed: URL
  try {
    const host = 'none'
    parsed = new URL(start.slice(0, start.length - hosts.length) + host + url.slice(start.length))
  } catch {
    throw notUrl('it cannot be read as a URL')
  }
  const values: Values = {}
  const set = (name: Parameter, value: string) => {
    if (value !== '') values[name] = value
  }
  set('user', decode(parsed.username))
  set('password', decode(parsed.password))
  const { host, port } = readHosts(hosts)
  set('host', host)
  set('port', port)
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

/** The hosts and their ports as the parameters have them: as lists with commas. */
function readHosts(text: string): { host: string; port: string } {
  const found = text.split(',').map((each) => /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(each))
  const hosts: string[] = []
  const ports: string[] = []
  for (const each of found) {
    const host = decode(each?.[1].replace(/^\[(.*)\]$/, '$1') ?? ' ')
    if (/[\s<>^|\\]/.test(host)) throw notUrl('it cannot be read as a URL')
    hosts.push(host)
    ports.push(each?.[2] ?? '')
  }
  const hasPort = ports.some((port) => port !== '')
  return { host: hosts.join(), port: hasPort ? ports.join() : '' }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw notUrl('a % in it is not followed by two hexadecimal digits; write %25 for %')
  }
}

/** As libpq has it: a port for each host, or one for all of them. */
function readServers(values: Values): DatabaseServer[] {
  const hosts = (values.host ?? 'localhost').split(',')
  const ports = (values.port ?? '').split(',')
  if (hosts.includes('')) throw notUrl('a host in its list has no name')
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw notUrl(
      `it has ${ports.length} ports for ${hosts.length} hosts: give each its own, or one`,
    )
  }
  return hosts.map((host, index) => ({ host, port: readPort(ports[index] ?? ports[0]) }))
}

function readPort(text: string): number {
  if (text === '') return DEFAULT_PORT
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw notUrl('its port is not a number from 1 to 65535')
}

function readMustWrite(text = 'any'): boolean {
  if (text === 'any' || text === 'read-write') return text === 'read-write'
  throw notUrl('target_session_attrs must be one of any, read-write')
}

function readConnectMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= CONNECT_SECONDS_MAX) return seconds * 1000
  throw notUrl(`connect_timeout must be a number of seconds from 1 to ${CONNECT_SECONDS_MAX}`)
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
