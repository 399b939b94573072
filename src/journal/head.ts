/**
 * The head of a journal: which record is the last one, where it ends, and where the journal begins.
 *
 * @module
 */
import { HeadMissing, type HeadStore, openHeadStore } from '../chain/head-store.js'
import { BEGINNING, type ChainEnd, type FileNumber, type Link } from '../chain/link.js'
import { limits } from '../limits.js'
import { JournalDamaged } from './damaged.js'
import { headDirectory, journalFileNumbers } from './files.js'

/** A record, and where it ends. */
export interface JournalPlace extends Link, ChainEnd {}

/** In a cluster: up to where the journal has what the log of all machines says. */
export interface LogPlace {
  /** Which log it is. */
  readonly generation: string
  /** The last message that was taken in; undefined while records come from another machine. */
  readonly place?: number | undefined
  /** Of this message, in SHA-256. */
  readonly digest?: string | undefined
}

/** What the log of a cluster says of a group. */
export interface Decided {
  readonly log: LogPlace
  /** Milliseconds since 1970 at which the log took it. */
  readonly timeMs: number
}

export interface JournalHead extends JournalPlace {
  /** The first file that is kept, and the record before it. */
  readonly first: { readonly file: FileNumber; readonly after: Link }
  /** Undefined in a directory of no cluster. */
  readonly log?: LogPlace | undefined
}

/** Before the first record. */
export const NO_HEAD: JournalHead = {
  ...BEGINNING,
  file: 0,
  bytes: 0,
  first: { file: 1, after: BEGINNING },
}

export type JournalHeadStore = HeadStore<JournalHead, 'batches'>

/**
 * Opens the head in LMDB.
 *
 * @param mode  `write` begins a journal where there is none yet
 * @throws JournalDamaged  where there are files without a head
 */
export function openHead(directory: string, mode: 'read' | 'write'): JournalHeadStore {
  try {
    return openHeadStore<JournalHead, 'batches'>(headDirectory(directory), {
      mode,
      isNew: () => journalFileNumbers(directory).length === 0,
      mapBytes: limits.journalHeadMapBytes,
      readerCount: limits.journalHeadReaderCount,
      tables: ['batches'],
    })
  } catch (fault) {
    if (fault instanceof HeadMissing) throw headLost(directory)
    throw fault
  }
}

/** Nobody can say whether the files are all. */
export function headLost(directory: string): JournalDamaged {
  return new JournalDamaged({
    directory,
    file: 'head',
    offset: undefined,
    sequence: undefined,
    problem: 'is missing: nobody can say whether the files of the journal are all',
  })
}

/** The beginning of what is kept. */
export function firstPlace({ first }: JournalHead): JournalPlace {
  return { ...first.after, file: first.file, bytes: 0 }
}
