/**
 * Everybody in a source of a data directory, read without the code that applies changes.
 *
 * @module
 */
import { join } from 'node:path'
import { identityOf } from '../../../src/changes/change.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { JournalReader } from '../../../src/journal/reader.js'
import { createArenaPool } from '../../../src/shard/arena-pool.js'
import { attachShard } from '../../../src/shard/layout.js'
import { readCurrent } from '../../../src/snapshot/directory.js'
import { readIdentities, type SourceIdentities } from '../../../src/snapshot/identities/list.js'
import { readIdentitiesFile } from '../../../src/snapshot/identities/read-file.js'
import { loadSnapshot } from '../../../src/snapshot/load/load.js'
import type { Snapshot } from '../../../src/snapshot/snapshot.js'

/** By identity: phone, lng and lat in units, and contact, as JSON. */
export type People = ReadonlyMap<string, string>

/**
 * Those of each source after the changes that are in the journal alone, one by one.
 *
 * @param snapshotId  the current one unless given
 * @throws JournalGone  where the snapshot needs batches that are not there any more
 */
export async function peopleIn(data: string, snapshotId?: string): Promise<Map<number, People>> {
  const { identities, people } = await readSnapshot(data, snapshotId)
  const journal = new JournalReader(journalDirectory(data))
  for (const { id, appliedSequence = 0 } of identities) {
    const own = people.get(id) as Map<string, string>
    for (const { sourceId, changes } of journal.read(appliedSequence)) {
      if (sourceId !== id) continue
      for (const change of changes) {
        if (change.op === 'clear') own.clear()
        else if (change.op === 'delete') own.delete(change.identity)
        else own.set(change.identity, personOf(change))
      }
    }
  }
  journal.close()
  return people
}

/** Those that are in the files of the current snapshot. */
export async function peopleInSnapshot(data: string): Promise<Map<number, People>> {
  return (await readSnapshot(data)).people
}

export function personOf({ phone, lng, lat, contact }: Person): string {
  return JSON.stringify([phone, lng, lat, contact])
}

interface Person {
  readonly phone: string
  /** Units. */
  readonly lng: number
  readonly lat: number
  readonly contact: string
}

/** One for all, since memory that is shared is not soon given back. */
const arenas = createArenaPool(1)

async function readSnapshot(data: string, snapshotId?: string) {
  const id = snapshotId ?? (await readCurrent(data)) ?? ''
  const snapshot = await loadSnapshot(data, id, arenas)
  const identities = await readIdentities(data, id)
  const people = new Map<number, Map<string, string>>()
  for (const source of identities) people.set(source.id, await readSource(data, snapshot, source))
  arenas.giveBack(snapshot.shards.flatMap(({ arena }) => (arena === null ? [] : { arena })))
  return { identities, people }
}

async function readSource(
  data: string,
  snapshot: Snapshot,
  { id, files }: SourceIdentities,
): Promise<Map<string, string>> {
  const people = new Map<string, string>()
  const directory = join(data, 'snapshots', snapshot.id)
  const own = snapshot.shards.filter((shard) => shard.sourceId === id)
  for (const [at, image] of own.entries()) {
    const { recipientCount, coords, phones, phoneOffsets, ids } = attachShard(image)
    const { contactOffsets, contactTexts, keys } = await readIdentitiesFile(
      directory,
      files[at],
      recipientCount,
    )
    const text = (bytes: Uint8Array, offsets: Uint32Array, row: number) =>
      Buffer.from(bytes.subarray(offsets[row], offsets[row + 1])).toString()
    for (let row = 0; row < recipientCount; row++) {
      const phone = text(phones, phoneOffsets, row)
      const contact = text(contactTexts, contactOffsets, ids[row])
      const key =
        keys === null ? identityOf(phone, contact) : text(keys.texts, keys.offsets, ids[row])
      if (people.has(key)) throw new Error(`${key} is there twice`)
      people.set(key, personOf({ phone, lng: coords[2 * row], lat: coords[2 * row + 1], contact }))
    }
  }
  return people
}
