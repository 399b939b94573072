/**
 * The first recipients of an input as they would be read, and what becomes of all its rows.
 *
 * @module
 */
import type { ReadReport, RecipientBatch, RecipientSink } from './batch.js'
import type { ChosenColumns } from './choose-columns.js'
import { type FilesInput, type ReadFilesOptions, readFiles } from './files/read-files.js'

interface PreviewRow {
  readonly phone: string
  /** In degrees, with all their decimals. */
  readonly lat: string
  readonly lng: string
  readonly contact: string
}

export interface Preview {
  /** Of the first file that has columns. */
  readonly columns: ChosenColumns
  readonly rows: readonly PreviewRow[]
  readonly report: ReadReport
}

/** Puts a sink before another. */
export type WrapSink = (sink: RecipientSink) => RecipientSink

/** Reads all of the input, and keeps the first rows that are accepted. */
export async function previewFiles(
  input: FilesInput,
  rowCount: number,
  {
    onProgress,
    rejected,
    wrap = (sink) => sink,
  }: Pick<ReadFilesOptions, 'onProgress' | 'rejected'> & { readonly wrap?: WrapSink } = {},
): Promise<Preview> {
  const sink = new PreviewSink(rowCount)
  let columns: ChosenColumns | undefined
  const onColumns = (chosen: ChosenColumns) => {
    columns ??= chosen
  }
  const report = await readFiles(input, wrap(sink), { onProgress, onColumns, rejected })
  return { columns: columns ?? NO_COLUMNS, rows: sink.rows, report }
}

/** Keeps the first recipients, and takes all others for read. */
export class PreviewSink implements RecipientSink {
  readonly rows: PreviewRow[] = []
  readonly #rowCount: number
  recipientCount = 0

  constructor(rowCount: number) {
    this.#rowCount = rowCount
  }

  add(batch: RecipientBatch): void {
    const { recipientCount, lngs, lats, phones, phoneOffsets, contacts, contactOffsets } = batch
    this.recipientCount += recipientCount
    for (let row = 0; row < recipientCount && this.rows.length < this.#rowCount; row++) {
      this.rows.push({
        phone: textAt(phones, phoneOffsets, row),
        lat: degrees(lats[row]),
        lng: degrees(lngs[row]),
        contact: textAt(contacts, contactOffsets, row),
      })
    }
  }

  truncate(recipientCount: number): void {
    this.recipientCount = recipientCount
    this.rows.splice(recipientCount)
  }
}

const NO_COLUMNS: ChosenColumns = {
  number: undefined,
  lat: undefined,
  lng: undefined,
  contact: undefined,
  key: undefined,
}
const UNIT_DECIMALS = 7

function textAt(bytes: Uint8Array, offsets: Uint32Array, row: number): string {
  return Buffer.from(bytes.subarray(offsets[row], offsets[row + 1])).toString()
}

/** Exact: the quotient of an integer and 10^7 has no more decimals. */
function degrees(units: number): string {
  return (units / 10 ** UNIT_DECIMALS).toFixed(UNIT_DECIMALS)
}
