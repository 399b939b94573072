/**
 * What data directories hold, byte by byte, and whether that is what an import may leave.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { SnapshotSource } from '../../src/snapshot/snapshot.js'

/** What a snapshot holds; a repeated import of the same rows makes the same. */
export interface Content {
  /** Of its id, behind the generation. */
  readonly digest: string
  readonly sources: readonly SnapshotSource[]
  /** SHA-256 by file name, but for those that name a time or other snapshots. */
  readonly files: ReadonlyMap<string, string>
}

export interface Expected {
  /** All snapshots that may be there. */
  readonly known: readonly Content[]
  /** SHA-256 of all files of the snapshots that were there, by id and file name. */
  readonly given: ReadonlyMap<string, string>
  /** What was current; undefined when nothing was. */
  readonly before: Content | undefined
  /** What the import makes. */
  readonly after: Content
}

/** The current snapshot, every byte of it verified. */
export async function contentOf(data: string): Promise<Content> {
  const id = readFileSync(join(data, 'CURRENT'), 'utf8').trimEnd()
  const snapshot = await openSnapshot(data, { arenas })
  arenas.giveBack(snapshot.shards.flatMap(({ arena }) => (arena === null ? [] : { arena })))
  if (snapshot.id !== id) throw new Error(`CURRENT is ${id}, and ${snapshot.id} was opened`)
  const files = new Map(digestsOf(join(data, 'snapshots', id)))
  for (const name of OF_THE_MOMENT) files.delete(name)
  return { digest: digestIn(id), sources: snapshot.sources, files }
}

/**
 * Whether the old or the new snapshot is current, or none as before, after every snapshot that goes
 * by the name of one was compared with what it must be.
 *
 * @throws Error  when anything is half, mixed or different
 */
export async function currentContent(
  data: string,
  { known, given, before, after }: Expected,
): Promise<Content | undefined> {
  for (const [id, files] of idsIn(data)) {
    const content = known.find(({ digest }) => digest === digestIn(id))
    if (content === undefined) throw new Error(`${id} is no snapshot that was ever imported`)
    for (const [name, sha256] of files) {
      const isGiven = [...given.keys()].some((path) => path.startsWith(`${id}/`))
      if (OF_THE_MOMENT.includes(name) && !isGiven) continue
      const expected = isGiven ? given.get(`${id}/${name}`) : content.files.get(name)
      if (sha256 !== expected) throw new Error(`${id}/${name} is not what was imported`)
    }
    if (files.size !== content.files.size + OF_THE_MOMENT.length)
      throw new Error(`${id} has ${files.size} files`)
  }
  if (!existsSync(join(data, 'CURRENT'))) {
    if (before !== undefined) throw new Error('CURRENT is gone')
    return undefined
  }
  const current = await contentOf(data)
  const found = [before, after].find((content) => content?.digest === current.digest)
  if (found === undefined) throw new Error(`${current.digest} is neither the old nor the new one`)
  if (JSON.stringify(found.sources) !== JSON.stringify(current.sources)) {
    throw new Error(`${current.digest} has other counts than were imported`)
  }
  return found
}

/** SHA-256 of all files of all snapshots, by id and file name. */
export function snapshotDigests(data: string): Map<string, string> {
  return new Map(
    [...idsIn(data)].flatMap(([id, files]) =>
      [...files].map(([name, sha256]) => [`${id}/${name}`, sha256] as const),
    ),
  )
}

/** What is in a data directory, or beside it, that no finished import leaves. */
export function leftovers(data: string, temporaryDirectory: string): string[] {
  const strange = (directory: string, allowed: RegExp) =>
    namesIn(directory)
      .filter((name) => !allowed.test(name))
      .map((name) => join(directory, name))
  return [
    ...strange(data, /^(CURRENT|snapshots)$/),
    ...strange(join(data, 'snapshots'), SNAPSHOT_ID),
    ...strange(temporaryDirectory, /^$/),
  ]
}

/** Makes the locks of an import or a compaction that was killed as old as they must be to be taken over. */
export function ageLock(data: string): void {
  for (const name of ['import.lock', 'compaction.lock']) {
    const lock = join(data, name)
    if (existsSync(lock)) utimesSync(lock, 1, 1)
  }
}

const OF_THE_MOMENT = ['manifest.json', 'origin.json']

const SNAPSHOT_ID = /^[0-9]{6,15}-[0-9a-f]{8}$/

/** One for all, since memory that is shared is not soon given back. */
const arenas = createArenaPool(1)

const digestIn = (id: string) => id.slice(id.indexOf('-') + 1)

function* idsIn(data: string): Iterable<[string, Map<string, string>]> {
  const snapshots = join(data, 'snapshots')
  for (const id of namesIn(snapshots).filter((name) => SNAPSHOT_ID.test(name))) {
    yield [id, digestsOf(join(snapshots, id))]
  }
}

function digestsOf(directory: string): Map<string, string> {
  return new Map(
    namesIn(directory).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex'),
    ]),
  )
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}
