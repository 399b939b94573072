/**
 * What a machine begins with that has nothing, or lacks what others keep no more: made by another machine, at one moment.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Link } from '../chain/link.js'
import { createDirectory, DIRECTORY_MODE } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { headDirectory, journalDirectory } from '../journal/files.js'
import { copyHead } from '../journal/hold.js'
import { beginBehind } from '../journal/seed.js'
import type { Log } from '../log.js'
import { baseSequenceOf } from '../snapshot/applied-sequence.js'
import { snapshotsDirectory, writeCurrent } from '../snapshot/directory.js'
import { readIdentities } from '../snapshot/identities/list.js'
import { noteEntries } from '../store/entries.js'
import { copyTables, DATA_FILE, storeDirectory } from '../store/tables.js'
import { clusterDirectory } from './directory.js'
import type { KnownFacts } from './facts.js'
import type { ClusterJournal } from './journal.js'
import {
  type AnnouncedSnapshot,
  announcedSnapshot,
  type FileExchange,
  SnapshotFiles,
} from './snapshot-files.js'
import { foundedSequenceIn, writeFacts } from './state-file.js'
import { digestOfFile, type FileDigest } from './verified-file.js'

export interface Seed {
  /** The journal begins behind it. */
  readonly beginning: Link
  /** Of the log that the journal follows. */
  readonly generation: string
  readonly facts: KnownFacts
  /** As in the state of that machine. */
  readonly foundedSequence: number | undefined
  /** The head of the journal in LMDB, with the ids of batches. */
  readonly head: FileDigest
  readonly store: FileDigest
  /** All entries up to here are in it. */
  readonly storedSequence: number
  readonly snapshot: AnnouncedSnapshot
}

interface SeedingOptions {
  readonly dataDirectory: string
  readonly journal: ClusterJournal
  readonly files: Pick<FileExchange, 'put'>
  /** Resolves when all entries up to a sequence are in the store, and it says so. */
  readonly untilStored: (sequence: number) => Promise<void>
}

/**
 * Puts all of it into the object store.
 *
 * The order matters: the store is copied when all entries are in it that the copied head of the journal is behind.
 */
export async function makeSeed(options: SeedingOptions): Promise<Seed> {
  const { dataDirectory, journal, files, untilStored } = options
  const workplace = join(seedsDirectory(dataDirectory), randomUUID())
  await mkdir(workplace, { recursive: true, mode: DIRECTORY_MODE })
  try {
    const id = journal.facts.switchedId
    if (id === undefined) throw new OperatorError('Failed', 'no snapshot is served yet')
    const base = baseSequenceOf(await readIdentities(dataDirectory, id))
    const head = await headBehind(options, workplace, base)
    const from = Math.max(Math.min(head.sequence, base), journal.beginning.sequence)
    const beginning = journal.linkAt(from)
    if (beginning === undefined) throw new OperatorError('Failed', `batch ${from} is kept no more`)
    const put = async (path: string): Promise<FileDigest> => {
      const digest = await digestOfFile(path)
      await files.put(path, digest)
      return digest
    }
    // An object store that takes nothing is found before all tables are copied.
    const placed = await put(join(headDirectory(workplace), DATA_FILE))
    await untilStored(head.sequence)
    const store = join(workplace, 'store')
    await mkdir(store, { mode: DIRECTORY_MODE })
    await copyTables(storeDirectory(dataDirectory), store)
    return {
      beginning: { sequence: beginning.sequence, hash: beginning.hash },
      generation: journal.generation,
      facts: journal.facts.known(),
      foundedSequence: foundedSequenceIn(dataDirectory),
      head: placed,
      store: await put(join(store, DATA_FILE)),
      storedSequence: head.sequence,
      snapshot: await announcedSnapshot(dataDirectory, id),
    }
  } finally {
    await rm(workplace, { recursive: true, force: true })
  }
}

/** Has a directory for each that is being made; what is left at a start is of an earlier process. */
export const seedsDirectory = (dataDirectory: string) =>
  join(clusterDirectory(dataDirectory), 'seeds')

/**
 * Copies the head of the journal. It is moved seldom: one before the snapshot would have the other machine begin with
 * a snapshot that has more than its journal.
 */
async function headBehind(
  { dataDirectory, journal }: SeedingOptions,
  workplace: string,
  base: number,
) {
  const directory = journalDirectory(dataDirectory)
  const head = await copyHead(directory, workplace)
  if (head.sequence >= base) return head
  await journal.index()
  return await copyHead(directory, workplace)
}

/**
 * Makes a directory of it, in which nothing is open. What was there of journal and store is removed; snapshots stay.
 *
 * @throws OperatorError
 */
export async function sow(
  dataDirectory: string,
  { beginning, generation, facts, head, store, storedSequence, snapshot }: Seed,
  files: FileExchange,
  log: Log,
): Promise<void> {
  const journal = journalDirectory(dataDirectory)
  const tables = storeDirectory(dataDirectory)
  await rm(journal, { recursive: true, force: true })
  await rm(tables, { recursive: true, force: true })
  const get = async (file: FileDigest, directory: string) => {
    await createDirectory(directory)
    await files.get(file, join(directory, DATA_FILE))
  }
  await get(head, headDirectory(journal))
  await beginBehind(journal, beginning, { generation })
  await get(store, tables)
  await noteEntries(tables, storedSequence)
  await new SnapshotFiles({ dataDirectory, files, log }).fetch(snapshot)
  if (!existsSync(join(snapshotsDirectory(dataDirectory), snapshot.id))) {
    throw new OperatorError('Failed', `the snapshot ${snapshot.id} could not be fetched`)
  }
  await writeCurrent(dataDirectory, snapshot.id)
  await writeFacts(dataDirectory, facts)
}
