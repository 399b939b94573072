/**
 * The files that the arguments of an import mean: paths, patterns, and `-` for standard input.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { quote } from './database.js'

export const STANDARD_INPUT = '-'

/** In the order given, and what a pattern matches by name. A file that is there is never a pattern. */
export async function inputPaths(patterns: readonly string[]): Promise<string[]> {
  const paths: string[] = []
  for (const pattern of patterns) {
    if (pattern.includes('://') && !(await exists(pattern))) throw notFile(pattern)
    const isPath = pattern === STANDARD_INPUT || !/[*?[]/.test(pattern) || (await exists(pattern))
    if (isPath) paths.push(pattern)
    else paths.push(...(await matches(pattern)))
  }
  refuseRepeated(paths)
  if (paths.length > limits.sourceFileCount) {
    throw new OperatorError(
      'InputRejected',
      `${paths.length} files are more than the ${limits.sourceFileCount} of one source: ` +
        'put them together, or import them as several sources',
    )
  }
  return paths
}

/** Most likely patterns that overlap; read twice, all its recipients would count twice. */
function refuseRepeated(paths: readonly string[]): void {
  const seen = new Set<string>()
  for (const path of paths) {
    const place = path === STANDARD_INPUT ? path : resolve(path)
    if (seen.has(place)) {
      const what = path === STANDARD_INPUT ? 'standard input (-)' : path
      throw new OperatorError('Usage', `${what} is named or matched twice: name it once`)
    }
    seen.add(place)
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Without the rest, which may hold a password. */
function notFile(address: string): Error {
  const [scheme] = address.split('://')
  return new OperatorError(
    'InputRejected',
    `${scheme}://… is not a file: download it first, or read a database with --from`,
  )
}

function notUtf8(pattern: string): Error {
  return new OperatorError(
    'InputRejected',
    `${pattern} matches a file whose name is not UTF-8: give it another name (mv), and import again`,
  )
}

async function matches(pattern: string): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run('SET autoload_known_extensions = false')
    const found = await connection.runAndReadAll(`SELECT file FROM glob(${quote(pattern)})`)
    const paths = found.getColumns()[0]?.map(String) ?? []
    if (paths.length > 0) return paths.sort()
  } catch (error) {
    if (/unicode|utf-?8/i.test((error as Error).message)) throw notUtf8(pattern)
    // As if it matched nothing.
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
  throw new OperatorError(
    'InputRejected',
    `no file matches ${pattern}: check the pattern and its directory`,
  )
}
