/**
 * TLS to PostgreSQL as libpq's `sslmode` means it. The library takes `require` and `verify-ca` for
 * `verify-full` in this release and will not in the next, so it is told each option instead.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { OperatorError } from '../../errors.js'
import { type DatabaseAddress, type DatabaseServer, isSocket } from './url.js'

/** How to connect: with these options of TLS, or in the clear. */
export type Security = ConnectionOptions | false

/** The ways to connect, to be tried in this order. */
export function securitiesOf(
  address: DatabaseAddress,
  { host }: DatabaseServer,
): readonly Security[] {
  if (isSocket(host)) return [false]
  switch (address.sslMode) {
    case 'disable':
      return [false]
    case 'allow':
      return [false, tlsOptions(address)]
    case 'prefer':
      return [tlsOptions(address), false]
    default:
      return [tlsOptions(address)]
  }
}

function tlsOptions(address: DatabaseAddress): ConnectionOptions {
  const { sslMode, sslCertificate, sslKey } = address
  const authorities = readAuthorities(address)
  const isVerified =
    sslMode.startsWith('verify-') || (sslMode === 'require' && authorities !== undefined)
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: isVerified,
    ...(authorities === undefined || authorities === 'system' ? {} : { ca: authorities }),
    // Any certificate of the authority will do, whatever host it is for.
    ...(sslMode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    ...(sslCertificate === undefined ? {} : { cert: read(sslCertificate, 'sslcert') }),
    ...(sslKey === undefined ? {} : { key: read(sslKey, 'sslkey') }),
  }
}

/** Undefined when none are named and the file that libpq looks for is not there. */
function readAuthorities({ sslMode, sslRootCertificate }: DatabaseAddress): string | undefined {
  if (sslRootCertificate === 'system') return 'system'
  if (sslRootCertificate !== undefined) return read(sslRootCertificate, 'sslrootcert')
  const usualPath = join(homeDirectory(), '.postgresql', 'root.crt')
  try {
    return readFileSync(usualPath, 'utf8')
  } catch {
    if (!sslMode.startsWith('verify-')) return undefined
    throw new OperatorError(
      'Usage',
      `sslmode=${sslMode} needs the certificate of the server's authority: name its file with ` +
        `sslrootcert=FILE or put it at ${usualPath}, or take the authorities that Node.js ` +
        'trusts with sslmode=verify-full&sslrootcert=system',
    )
  }
}

/** A user without an entry of the system has none, as in containers. */
function homeDirectory(): string {
  try {
    return homedir()
  } catch {
    return '~'
  }
}

function read(path: string, parameter: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OperatorError('Usage', `the file ${path} of ${parameter} cannot be read: ${code}`)
  }
}
