/**
 * Files read as an import does, with what was accepted as plain values.
 *
 * @module
 */
import assert from 'node:assert'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadReport, RecipientBatch, RecipientSink } from '../../../src/sources/batch.js'
import { withDatabase } from '../../../src/sources/files/database.js'
import { openFile } from '../../../src/sources/files/open-files.js'
import { type FilesInput, readFiles } from '../../../src/sources/files/read-files.js'
import { Spool } from '../../../src/sources/files/spool.js'
import { KeySet } from '../../../src/sources/rows/key-set.js'
import type { RowTexts } from '../../../src/sources/rows/rejected-texts.js'
import {
  type PlaceUnit,
  type RejectedSink,
  type RejectReason,
  RejectTally,
} from '../../../src/sources/rows/rejects.js'
import { readTextFile } from '../../../src/sources/text/read-text.js'

export interface ReadRows extends ReadReport {
  readonly phones: readonly string[]
  /** Units of 1e-7 degree. */
  readonly lngs: readonly number[]
  readonly lats: readonly number[]
  readonly contacts: readonly string[]
}

const SPOOL_DIRECTORY = join(tmpdir(), `hickory-spool-${process.pid}`)
process.on('exit', () => rmSync(SPOOL_DIRECTORY, { recursive: true, force: true }))

export async function readRows(
  patterns: readonly string[],
  input: Partial<FilesInput> = {},
  rejected?: RejectedSink,
): Promise<ReadRows> {
  const sink = new RowSink()
  const whole = { columns: {}, spoolDirectory: SPOOL_DIRECTORY, ...input, patterns }
  const report = await readFiles(whole, sink, { rejected })
  const { phones, lngs, lats, contacts } = sink
  return { ...report, phones, lngs, lats, contacts }
}

export interface CsvRead extends Pick<ReadRows, 'phones' | 'contacts'> {
  readonly rejectedLines: readonly number[]
}

/** Reads a CSV file as often as it is asked to, by one database: to start one takes most of the time. */
export function withCsvReader(
  path: string,
  use: (read: () => Promise<CsvRead>) => Promise<void>,
): Promise<void> {
  const spool = new Spool(SPOOL_DIRECTORY)
  return withDatabase([path], (connection) =>
    use(async () => {
      const { opened } = await openFile(path, {}, {}, spool)
      assert(opened.kind === 'text')
      const sink = new RowSink()
      const rejectedLines: number[] = []
      const tally = new RejectTally({ add: (_, { line }) => rejectedLines.push(line) })
      const target = { sink, tally, keys: new KeySet(), options: {} }
      await readTextFile(connection, opened.file, target, () => undefined)
      return { phones: sink.phones, contacts: sink.contacts, rejectedLines }
    }),
  )
}

/** The places of what was rejected, by reason. */
export function rejectedLines({ rejects }: ReadReport): Record<string, number[]> {
  return Object.fromEntries(
    rejects.map(({ reason, examples }) => [reason, examples.map(({ line }) => line)]),
  )
}

/** Every rejected row with its place, where the examples of a report are too few. */
export async function rejectedRows(
  paths: readonly string[],
  input: Partial<FilesInput> = {},
): Promise<{ readonly read: ReadRows; readonly rejected: readonly RejectedRow[] }> {
  const rejected: RejectedRow[] = []
  const sink: RejectedSink = {
    add(reason, { line, unit }, texts) {
      rejected.push({ line, unit, reason, ...texts })
    },
  }
  const read = await readRows(paths, input, sink)
  return { read, rejected }
}

export interface RejectedRow extends RowTexts {
  readonly line: number
  readonly unit: PlaceUnit
  readonly reason: RejectReason
}

class RowSink implements RecipientSink {
  readonly phones: string[] = []
  readonly lngs: number[] = []
  readonly lats: number[] = []
  readonly contacts: string[] = []

  get recipientCount(): number {
    return this.phones.length
  }

  truncate(recipientCount: number): void {
    for (const column of [this.phones, this.lngs, this.lats, this.contacts]) {
      column.splice(recipientCount)
    }
  }

  add(batch: RecipientBatch): void {
    const phones = Buffer.from(batch.phones)
    const contacts = Buffer.from(batch.contacts)
    const { phoneOffsets, contactOffsets } = batch
    for (let row = 0; row < batch.recipientCount; row++) {
      this.phones.push(phones.toString('utf8', phoneOffsets[row], phoneOffsets[row + 1]))
      this.contacts.push(contacts.toString('utf8', contactOffsets[row], contactOffsets[row + 1]))
      this.lngs.push(batch.lngs[row])
      this.lats.push(batch.lats[row])
    }
  }
}
