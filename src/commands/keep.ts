/**
 * How many snapshots stay: a flag, or `keep` in a list of sources, or the usual number.
 *
 * @module
 */
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'

/** In the data directory: the sources of a regular import. */
export const SOURCES_FILE = 'sources.json'

/**
 * @param flag  the value of `--keep`
 * @param listed  `keep` of the list that is imported; the one in the data directory counts without it
 * @throws OperatorError  `Usage`, of a flag
 */
export function readKeepCount(
  log: Log,
  dataDirectory: string,
  flag: string | undefined,
  listed?: number,
): number {
  if (flag === undefined) return listed ?? fromFile(log, join(dataDirectory, SOURCES_FILE))
  if (isKeepCount(Number(flag)) && /^[0-9]+$/.test(flag)) return Number(flag)
  throw new OperatorError('Usage', `--keep is a whole number of snapshots, ${RANGE}, not "${flag}"`)
}

/** Whoever wrote a number there must not lose snapshots because it cannot be read. */
function fromFile(log: Log, path: string): number {
  try {
    if (statSync(path).size > limits.sourcesFileBytes) throw new Error('it is too large')
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value !== 'object' || value === null) throw new Error('it is not a JSON object')
    const keep = 'keep' in value ? value.keep : limits.snapshotCount
    if (!isKeepCount(keep)) throw new Error(`"keep" must be ${RANGE}`)
    return keep
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return limits.snapshotCount
    // Where the whole directory is closed to this user, the lock tells it.
    if (code === 'EACCES' && !isSearchable(dirname(path))) return limits.snapshotCountMax
    // The message of a parser may quote the file, and so a password.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
    log.warn({ file: path, reason }, 'no old snapshot is removed: "keep" cannot be read')
    return limits.snapshotCountMax
  }
}

function isSearchable(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const RANGE = `from ${limits.snapshotCountMin} to ${limits.snapshotCountMax}`

function isKeepCount(value: unknown): value is number {
  const count = Number.isInteger(value) ? Number(value) : 0
  return count >= limits.snapshotCountMin && count <= limits.snapshotCountMax
}
