/**
 * Data directories with snapshots in them, for tests.
 *
 * @module
 */
import { appendFileSync, cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createLog } from '../../../src/log.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { writeCurrent } from '../../../src/snapshot/directory.js'
import { beginSnapshot } from '../../../src/snapshot/publish/begin.js'
import { withDataLock } from '../../../src/snapshot/publish/lock.js'
import { temporaryDirectory } from '../service/hickory.js'

export const silentLog = createLog('silent')

/** Publishes one source and returns the snapshot's id. */
export async function publishTest(
  dataDirectory: string,
  sourceId: number,
  columns: RecipientColumns,
  label = `Source ${sourceId}`,
): Promise<string> {
  return publishSources(dataDirectory, [{ id: sourceId, label, columns }])
}

/** The same of several in one snapshot. */
export async function publishSources(
  dataDirectory: string,
  sources: readonly { id: number; label?: string; columns: RecipientColumns }[],
): Promise<string> {
  return withDataLock(dataDirectory, async (lock) => {
    const draft = await beginSnapshot(lock, { log: silentLog })
    try {
      for (const { id, label = `Source ${id}`, columns } of sources) {
        await draft.put({ id, label }, columns)
      }
      return (await draft.publish()).snapshotId
    } finally {
      await draft.discard()
    }
  })
}

/** Has a data directory name a new snapshot that does not verify, and returns its id. */
export async function publishDamaged(
  t: Test,
  dataDirectory: string,
  sourceId: number,
  columns: RecipientColumns,
): Promise<string> {
  // Elsewhere, since a service might take it before it is damaged.
  const elsewhere = temporaryDirectory(t)
  for (const name of ['CURRENT', 'snapshots']) {
    cpSync(join(dataDirectory, name), join(elsewhere, name), { recursive: true })
  }
  const id = await publishTest(elsewhere, sourceId, columns)
  const path = join('snapshots', id)
  cpSync(join(elsewhere, path), join(dataDirectory, path), { recursive: true })
  appendFileSync(join(dataDirectory, path, `${sourceId}-0000.shard`), 'x')
  await writeCurrent(dataDirectory, id)
  return id
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
