/**
 * The results that are kept with the source, one for each release.
 *
 * @module
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const releasesDirectory = fileURLToPath(
  new URL('../../../loadtest/releases', import.meta.url),
)

/**
 * The file of the highest version in a directory, such as `0.10.0.json` rather than `0.9.1.json`.
 *
 * @throws Error  when there is none
 */
export function newestRelease(directory: string): string {
  const names = existsSync(directory) ? readdirSync(directory) : []
  const releases = names.filter((name) => /^[0-9]+\.[0-9]+\.[0-9]+\.json$/.test(name))
  const newest = releases.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  if (newest === undefined) throw new Error(`there is no result of a release in ${directory}`)
  return join(directory, newest)
}
