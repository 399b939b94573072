/**
 * A copy of the store while others change it: of one moment, made by LMDB itself.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkStore } from './check.js'
import { copyTables, DATA_FILE, storeDirectory } from './tables.js'

/**
 * Checks a store and copies it.
 *
 * @param target  an empty directory
 * @returns the file of the copy; undefined where there is no store
 * @throws OperatorError `DocumentInvalid`, when the store is damaged
 */
export async function copyStore(
  dataDirectory: string,
  target: string,
): Promise<string | undefined> {
  const directory = storeDirectory(dataDirectory)
  if (!existsSync(join(directory, DATA_FILE))) return undefined
  await checkStore(directory)
  await copyTables(directory, target)
  return join(target, DATA_FILE)
}
