/**
 * The head of the chain of an audit directory: which line is the last one, and where it ends. It is kept
 * beside the files, so that a file that was cut short is found.
 *
 * @module
 */
import { type HeadStore, openHeadStore } from '../chain/head-store.js'
import type { ChainEnd } from '../chain/last-file.js'
import { BEGINNING, type Link } from '../chain/link.js'
import type { FileNumber } from '../chain/numbered-files.js'
import { limits } from '../limits.js'
import { auditFileNumbers, headDirectory } from './files.js'

export interface Head extends Link, ChainEnd {
  /** The UTC day on which the file was begun, such as `2026-11-22`. */
  readonly day: string
  /** The first file that is kept, and the line before it. */
  readonly first: { readonly file: FileNumber; readonly after: Link }
}

/** Before the first line. */
export const NO_HEAD: Head = {
  ...BEGINNING,
  file: 0,
  bytes: 0,
  day: '',
  first: { file: 1, after: BEGINNING },
}

/**
 * Opens the head of an audit directory that exists.
 *
 * @param mode  `write` begins a chain where there is none yet
 * @throws HeadMissing
 */
export function openHead(directory: string, mode: 'read' | 'write'): HeadStore<Head> {
  return openHeadStore<Head>(headDirectory(directory), {
    mode,
    isNew: () => auditFileNumbers(directory).length === 0,
    mapBytes: limits.auditHeadMapBytes,
    readerCount: limits.auditHeadReaderCount,
    tables: [],
  })
}
