/**
 * The files of the journal of a data directory:
 *
 *   journal/changes-000001.journal   records; never changed once the next file is begun
 *   journal/position                 where the last record ends, for readers
 *   journal/head/                    the position in LMDB, somewhat older, with the ids of batches; the lock
 *
 * @module
 */
import { join } from 'node:path'
import { type FileNumber, numberedFiles } from '../chain/link.js'

const files = numberedFiles('changes', 'journal')

export const journalFileName = files.nameOf

/** The numbers of the files that are there, ascending. */
export const journalFileNumbers = files.numbersIn

export const journalDirectory = (dataDirectory: string) => join(dataDirectory, 'journal')

export const journalPath = (directory: string, number: FileNumber) =>
  join(directory, journalFileName(number))

export const headDirectory = (directory: string) => join(directory, 'head')

export const positionPath = (directory: string) => join(directory, 'position')
