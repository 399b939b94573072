/**
 * What went wrong with a database, told to the operator: with what to do, without the password, and
 * without anything from a row. The server's own words are passed on only before rows are read,
 * because later they may quote a value.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { type DatabaseAddress, type DatabaseServer, shownUrl } from './url.js'

/** What PostgreSQL, TLS and the system say of a failure, of which any may be missing. */
interface Failure {
  readonly message: string
  /** Five characters of the server (SQLSTATE), or a name of the system or of TLS. */
  readonly code?: string
  /** Character of the statement, from 1. */
  readonly position?: string
}

/** What went wrong while connecting to one of the servers. */
export function connectText(error: unknown, server: DatabaseServer): string {
  const failure = error as Failure
  const code = codeOf(failure)
  return isSqlState(code) ? serverText(failure, code) : systemText(failure, code, server)
}

/** For a statement of ours, which has nothing of a row, and for what ends the session between two. */
export function sessionFault(error: unknown, address: DatabaseAddress): OperatorError {
  if (error instanceof OperatorError) return error
  const failure = error as Failure
  const code = codeOf(failure)
  const text = isSqlState(code) ? serverText(failure, code) : lostText(failure, code)
  return databaseFault(address, text, error)
}

/** With the words of the server, which knows of no row yet. */
function serverText(failure: Failure, code: string): string {
  const known = connectStates[code]?.(failure) ?? stateTexts[code]
  return known ?? `the server says: ${failure.message} (${code})${POOLER_ADVICE[code] ?? ''}`
}

/**
 * For the query itself, before it has given a row.
 *
 * @param prefixCharCount  what the statement has before the query
 */
export function queryFault(
  error: unknown,
  address: DatabaseAddress,
  query: string,
  prefixCharCount: number,
): OperatorError {
  if (error instanceof OperatorError) return error
  const failure = error as Failure
  const code = codeOf(failure)
  if (!isSqlState(code)) return databaseFault(address, lostText(failure, code), error)
  const position = Number(failure.position) - prefixCharCount
  const place = position >= 1 ? `at character ${position} of the query: ` : ''
  if (code === '42601' && failure.message.includes('multiple commands')) {
    return databaseFault(address, 'the query is several statements: give one SELECT')
  }
  if (code === '42601' && position === query.search(/\S/) + 1) {
    return databaseFault(address, 'the query is not a SELECT (or VALUES, TABLE, WITH … SELECT)')
  }
  if (failure.message.includes('data-modifying'))
    return databaseFault(address, byState('25006')(failure))
  if (isAboutValues(code) || stateTexts[code] !== undefined) {
    return databaseFault(address, `${place}${byState(code)(failure)}`, error)
  }
  return databaseFault(
    address,
    `the server refuses the query: ${place}${failure.message} (${code})`,
    error,
  )
}

/** While rows are read. */
export function readFault(error: unknown, address: DatabaseAddress): OperatorError {
  if (error instanceof OperatorError) return error
  const failure = error as Failure
  const code = codeOf(failure)
  return databaseFault(address, isSqlState(code) ? byState(code)(failure) : lostText(failure, code))
}

type Text = (failure: Failure) => string

const connectStates: Readonly<Record<string, Text>> = {
  '28P01': () => 'the password is wrong: it is taken from the URL, PGPASSWORD or ~/.pgpass',
  '28000': ({ message }) =>
    `the server does not let this user in: ${message}; see its pg_hba.conf and the user's name`,
  '42501': ({ message }) => `the user lacks a right: ${message}`,
  '3D000': ({ message }) => `${message}: correct the name behind the last / of the URL`,
  '57P03': ({ message }) => `${message}: try again later`,
  '53300': ({ message }) =>
    `the server has too many connections already: ${message}: try again later`,
}

/** A pooler knows few parameters, and says so with a code for whatever does not keep to the protocol. */
const POOLER_ADVICE: Readonly<Record<string, string>> = {
  '08P01':
    ': behind a pooler such as PgBouncer leave the parameter out, let the pooler pass it on or ignore it, or connect to the server itself',
}

/** States that say all there is to say, whenever they come. */
const stateTexts: Readonly<Record<string, string>> = {
  '25006': 'the query would change the database, and is read only: give a SELECT that does not',
  '25P03': 'the server ended the session for being idle: raise idle_in_transaction_session_timeout',
  '25P04': 'the server ended the session, for its transaction_timeout: raise it for this user',
  '40001': 'the server broke the query off because the rows changed, as a standby does: try again',
  '53100': "the server's disk is full: make room there, or sort and join less in the query",
  '53200': 'the server has run out of memory: sort and join less in the query',
  '53400': 'the query takes more room on the disk than the server allows it (temp_file_limit)',
  '55P03': 'a table of the query is locked by someone else: try again later',
  '57014':
    'the server ended the query, for its statement_timeout or because someone cancelled it: raise it ' +
    'for this user (ALTER ROLE … SET statement_timeout) or here (&options=-c%20statement_timeout=0)',
  '57P01': 'the server was shut down, or an administrator ended the session: try again later',
  '57P02': 'the server crashed: try again when it has recovered',
  '57P04': 'the database was dropped',
  '58030': 'the server cannot read its disk: see its log',
  XX001: 'the server found a table damaged: see its log',
  XX002: 'the server found an index damaged: see its log',
}

function byState(code: string): Text {
  const known = stateTexts[code]
  if (known !== undefined) return () => `${known} (${code})`
  if (code === '42601') {
    return () => `leave out the semicolon of the query and what comes after it (${code})`
  }
  if (code === '42883') {
    return () => `a function is missing (${code}): is all of PostGIS there, such as ST_X?`
  }
  if (isAboutValues(code)) {
    return () =>
      `a value cannot be read or computed (${code}); the server's log says which: ` +
      'correct the row, or leave it out in the query'
  }
  return () => `the server broke the query off (${code}): see its log`
}

/** Messages of data exceptions, of functions' own exceptions and of PostGIS quote values. */
function isAboutValues(code: string): boolean {
  return /^(22|23|38|P0|XX000)/.test(code)
}

function systemText(failure: Failure, code: string, { host, port }: DatabaseServer): string {
  const { message } = failure
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
      return `the host ${host} is not known (${code}): correct its name`
    case 'ECONNREFUSED':
      return `nothing listens on port ${port} of ${host}: correct it, or start the server`
    case 'ENOENT':
      return `there is no socket of a server in ${host} for port ${port}`
    case 'EACCES':
    case 'EPERM':
      return `the socket in ${host} may not be used by this user (${code})`
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${host} cannot be reached (${code}): is a firewall between?`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate of the server is for another name than ${host}: connect to the name that it has, or check no name with sslmode=verify-ca`
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `the certificate of the server is out of date (${code})`
  }
  if (/CERT|ISSUER|SIGNATURE|SIGNED/.test(code)) {
    return `the certificate of the server is not trusted (${code}): name that of its authority with sslrootcert=FILE`
  }
  if (/^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO)/.test(code)) return `TLS failed (${code})`
  if (message === 'timeout expired') return 'the server does not answer: is it the right port?'
  if (message.includes('does not support SSL')) {
    return 'the server offers no TLS: turn it on there, or allow none with sslmode=prefer'
  }
  return lostText(failure, code)
}

function lostText(failure: Failure, code: string): string {
  const why = code === '' ? (isOfEnded(failure) ? '' : ' (protocol)') : ` (${code})`
  return `the connection was lost${why}: see the log of the server, and try again`
}

/** Whether the library says it, of a connection that has ended. */
export function isOfEnded(error: unknown): boolean {
  const words = /^(Connection terminated|Client (has encountered|was closed))/
  return error instanceof Error && words.test(error.message)
}

/** Of the first of several attempts at the addresses of one host. */
function codeOf(failure: Failure): string {
  const { code, errors } = failure as Failure & { errors?: readonly Failure[] }
  return code ?? errors?.[0]?.code ?? ''
}

export function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code)
}

export function databaseFault(
  address: DatabaseAddress,
  text: string,
  cause?: unknown,
): OperatorError {
  return new OperatorError('InputRejected', `${shownUrl(address)}: ${text}`, { cause })
}
