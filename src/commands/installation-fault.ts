/**
 * Tells a library that is not there, or that this system cannot load, from a mistake in the program. Imports no
 * library, since it is asked when one is missing.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { OperatorError } from '../errors.js'

/**
 * @returns what to tell the operator of an error of an import; undefined where the installation is not at
 *   fault
 */
export function installationFault(error: unknown): OperatorError | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', message } = error as NodeJS.ErrnoException
  const cause = { cause: error }
  if (code === 'ERR_DLOPEN_FAILED' && SYSTEM.test(message)) {
    const text = `this system is too old, or not of the right kind, for a library: ${lineOf(message)}. ${NEEDS}`
    return new OperatorError('UnsupportedNode', text, cause)
  }
  if (!ABSENT.includes(code) && !MISSING.test(message)) return undefined
  if (lacksFiles(message)) return new OperatorError('Failed', TOO_FEW_FILES, cause)
  const text = `the installation is not whole: ${lineOf(message)}. ${AGAIN}`
  return new OperatorError('Failed', text, cause)
}

const ABSENT: readonly string[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']

/** As the loader of Linux, and that of musl, name a library of the system or its version. */
const SYSTEM = /GLIBC|ld-linux|libstdc\+\+|libc\.(so|musl)/

/** As Node.js says it of a thread, and the loader of the binaries of lmdb. */
const MISSING = /No native build was found|Cannot find (package|module) '/

const NEEDS =
  'Hickory needs Linux with glibc 2.34 or later (Debian 12, Ubuntu 22.04, RHEL 9) and libstdc++ of GCC 11'

const AGAIN =
  'Install it again: unpack the tarball, or call `npm install` or `npm ci` where you did, without --no-optional'

const FILE_COUNT = 1_024

const TOO_FEW_FILES = `a library cannot be opened: too many files are open. Raise the limit (ulimit -n, LimitNOFILE) to ${FILE_COUNT} or more`

/** Node.js says that a package is missing where it could open none of its files. */
function lacksFiles(message: string): boolean {
  const [, directory] = PACKAGE_DIRECTORY.exec(message) ?? []
  if (directory === undefined || !existsSync(`${directory}/package.json`)) return false
  const { userLimits } = process.report.getReport() as unknown as Report
  return Number(userLimits.open_files.soft) < FILE_COUNT
}

interface Report {
  readonly userLimits: { readonly open_files: { readonly soft: number | 'unlimited' } }
}

const PACKAGE_DIRECTORY = /Cannot find package '(\/[^']+\/node_modules\/(?:@[^/']+\/)?[^/']+)/

function lineOf(message: string): string {
  return message.split('\n', 1)[0].trim()
}
