/**
 * Data directories with snapshots in them, for tests.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '../../src/log.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { withDataLock } from '../../src/snapshot/lock.js'
import { publishSource } from '../../src/snapshot/publish.js'

export const silentLog = createLog('silent')

/** Publishes one source and returns the snapshot's id. */
export async function publishTest(
  dataDirectory: string,
  sourceId: number,
  columns: RecipientColumns,
  label = `Source ${sourceId}`,
): Promise<string> {
  const { snapshotId } = await withDataLock(dataDirectory, (lock) =>
    publishSource(lock, { id: sourceId, label }, columns, { log: silentLog }),
  )
  return snapshotId
}

/** Every file and directory below, with inode, mode and content, to tell whether any changed. */
export function fingerprint(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => {
      const path = join(directory, name)
      const { ino, mode } = statSync(path)
      const content = statSync(path).isFile() ? readFileSync(path, 'base64') : ''
      return [name, `${ino} ${(mode & 0o777).toString(8)} ${content}`]
    }),
  )
}
