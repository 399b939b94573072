/**
 * Files that were made for a machine that begins, and are kept until it has them: by their digests, in a directory that
 * goes then.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.js'
import { clusterDirectory } from './directory.js'

interface Lent {
  readonly directory: string
  /** Paths by SHA-256. */
  readonly paths: ReadonlyMap<string, string>
  readonly timer: NodeJS.Timeout
}

/** Begins the name of a directory of such files; another part follows. */
const PREFIX = 'lent-'

export const lentPath = (dataDirectory: string, name: string) =>
  join(clusterDirectory(dataDirectory), `${PREFIX}${name}`)

export class LentFiles {
  #all: Lent[] = []

  /** Takes the directory over. The oldest goes where there are too many. */
  async lend(directory: string, paths: ReadonlyMap<string, string>): Promise<void> {
    const timer = setTimeout(() => void this.#end(lent), limits.fileLentMs)
    timer.unref()
    const lent: Lent = { directory, paths, timer }
    this.#all.push(lent)
    while (this.#all.length > limits.filesLentCount) await this.#end(this.#all[0])
  }

  pathOf(sha256: string): string | undefined {
    for (const { paths } of this.#all) {
      const path = paths.get(sha256)
      if (path !== undefined) return path
    }
    return undefined
  }

  async #end(lent: Lent): Promise<void> {
    clearTimeout(lent.timer)
    this.#all = this.#all.filter((one) => one !== lent)
    await rm(lent.directory, { recursive: true, force: true }).catch(() => {})
  }
}

/** Of an earlier process. */
export async function removeLent(dataDirectory: string): Promise<void> {
  const directory = clusterDirectory(dataDirectory)
  if (!existsSync(directory)) return
  for (const name of await readdir(directory)) {
    if (name.startsWith(PREFIX)) await rm(join(directory, name), { recursive: true, force: true })
  }
}
