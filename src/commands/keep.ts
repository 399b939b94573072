/**
 * How many snapshots stay: a flag, or `keep` in `sources.json`, or the usual number.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'

/** In the data directory: the sources of a regular import. */
export const SOURCES_FILE = 'sources.json'

/**
 * @param flag  the value of `--keep`
 * @param path  of `sources.json`
 * @throws OperatorError  `Usage`, of a flag
 */
export function readKeepCount(log: Log, flag: string | undefined, path: string): number {
  if (flag === undefined) return fromFile(log, path)
  if (isKeepCount(Number(flag)) && /^[0-9]+$/.test(flag)) return Number(flag)
  throw new OperatorError(
    'Usage',
    `--keep is a whole number of snapshots from 1 to ${limits.snapshotCountMax}, not "${flag}"`,
  )
}

/** Whoever wrote a number there must not lose snapshots because it cannot be read. */
function fromFile(log: Log, path: string): number {
  try {
    if (statSync(path).size > limits.sourcesFileBytes) throw new Error('it is too large')
    const { keep = limits.snapshotCount } = JSON.parse(readFileSync(path, 'utf8'))
    if (!isKeepCount(keep)) throw new Error(`"keep" must be from 1 to ${limits.snapshotCountMax}`)
    return keep
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return limits.snapshotCount
    // The message of a parser may quote the file, and so a password.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
    log.warn({ file: path, reason }, 'no old snapshot is removed: "keep" cannot be read')
    return limits.snapshotCountMax
  }
}

function isKeepCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= limits.snapshotCountMax
}
