/**
 * Which files and directories this process syncs to disk: what is left out there is not noticed before a power
 * failure.
 *
 * @module
 */
import fs, { readlinkSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { Owner } from '../service/hickory.js'

/** @returns the paths from now on until the test ends, in the order of the calls */
export async function syncedPaths(t: Owner): Promise<readonly string[]> {
  const paths: string[] = []
  const note = (fd: number) => paths.push(readlinkSync(`/proc/self/fd/${fd}`))
  for (const name of ['fsyncSync', 'fdatasyncSync'] as const) {
    const sync = fs[name]
    fs[name] = (fd) => {
      note(fd)
      sync(fd)
    }
    t.teardown(() => {
      fs[name] = sync
      syncBuiltinESMExports()
    })
  }
  syncBuiltinESMExports()
  const file = await open('/dev/null')
  const handles = Object.getPrototypeOf(file) as Pick<FileHandle, 'sync' | 'datasync'>
  await file.close()
  for (const name of ['sync', 'datasync'] as const) {
    const sync = handles[name]
    handles[name] = function (this: FileHandle) {
      note(this.fd)
      return sync.call(this)
    }
    t.teardown(() => {
      handles[name] = sync
    })
  }
  return paths
}
