/**
 * Files read as an import does, with what was accepted as plain values.
 *
 * @module
 */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadReport, RecipientBatch, RecipientSink } from '../../../src/sources/batch.js'
import { type FilesInput, readFiles } from '../../../src/sources/files/read-files.js'

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
): Promise<ReadRows> {
  const sink = new RowSink()
  const whole = { columns: {}, spoolDirectory: SPOOL_DIRECTORY, ...input, patterns }
  const report = await readFiles(whole, sink)
  const { phones, lngs, lats, contacts } = sink
  return { ...report, phones, lngs, lats, contacts }
}

/** The places of what was rejected, by reason. */
export function rejectedLines({ rejects }: ReadReport): Record<string, number[]> {
  return Object.fromEntries(
    rejects.map(({ reason, examples }) => [reason, examples.map(({ line }) => line)]),
  )
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
