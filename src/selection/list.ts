/**
 * A list as the body of an answer. It is written chunk by chunk: while the client keeps up, a few chunks
 * are encoded ahead, otherwise none (write-rows.ts).
 *
 * Its length is told beforehand. A short list is encoded at once and kept until it is written. For a
 * longer one query workers count the bytes of the rows (row-bytes.ts), which takes them a sixth of the
 * time of the rows themselves.
 *
 * @module
 */
import { type BodyWriter, type ByteSink, writeBody } from '../format/answer.js'
import { copyOf } from '../format/copy-of.js'
import {
  csvRowPrefix,
  type Frame,
  framed,
  frames,
  geoJsonRowPrefix,
  type ListLayout,
  ndjsonRowPrefix,
  type SourceSummary,
  startOf,
} from '../format/recipients.js'
import { limits } from '../limits.js'
import type { Caller, QueryRunner } from '../pool/tasks.js'
import type { RowFormat } from '../shard/rows/row-format.js'
import { recipientCountOf } from '../shard/runs.js'
import { type SourceSelection, summaryOf } from './merge.js'
import { rowBytesOf, type SourceRows } from './row-bytes.js'
import { writeRows } from './write-rows.js'

export class List implements BodyWriter {
  readonly #runner: QueryRunner
  readonly #selections: readonly SourceSelection[]
  readonly #layout: ListLayout
  readonly #frame: Frame
  readonly #caller: Caller
  /** All of it, where it is short and its length was asked for. */
  #whole: Uint8Array | undefined

  constructor(
    runner: QueryRunner,
    selections: readonly SourceSelection[],
    layout: ListLayout,
    caller: Caller,
    frame: Frame = frames[layout].list,
  ) {
    this.#runner = runner
    this.#selections = selections
    this.#layout = layout
    this.#frame = frame
    this.#caller = caller
  }

  async write(sink: ByteSink): Promise<void> {
    const caller = this.#caller
    const onRows = (count: number) => caller.rowsSent?.(count)
    if (this.#whole === undefined) return this.#stream(sink, undefined, onRows)
    // Before the write, which is the end of the answer.
    if (!sink.gone) onRows(rowCountOf(this.#selections))
    await writeBody(this.#whole, sink)
  }

  async byteCount(): Promise<number | undefined> {
    const rowCount = rowCountOf(this.#selections)
    if (rowCount > limits.listMeasuredCount) return undefined
    if (rowCount > limits.rowsPerFirstChunkCount) return this.#measure()
    const pieces: Uint8Array[] = []
    // The answer has not begun.
    await this.#stream(sinkInto(pieces, this.#caller), this.#caller.deadlineMs)
    this.#whole = Buffer.concat(pieces)
    return this.#whole.length
  }

  async #stream(
    sink: ByteSink,
    deadlineMs?: number,
    onRows?: (count: number) => void,
  ): Promise<void> {
    const frame = this.#frame
    const summaries = this.#selections.map(summaryOf)
    await writeBody(startOf(frame, summaries), sink)
    for (const [at, { shards, format }] of this.#rows(summaries).entries()) {
      await writeBody(frame.sourceStart(summaries[at], at), sink)
      await writeRows(this.#runner, shards, format, sink, deadlineMs, onRows)
      if (sink.gone) return
      await writeBody(frame.sourceEnd, sink)
    }
    await writeBody(frame.end, sink)
  }

  async #measure(): Promise<number> {
    const frame = this.#frame
    const summaries = this.#selections.map(summaryOf)
    const rowBytes = await rowBytesOf(this.#runner, this.#rows(summaries), this.#caller)
    return rowBytes + Buffer.byteLength(framed(frame, summaries))
  }

  /** @param summaries  of the selections */
  #rows(summaries: readonly SourceSummary[]): SourceRows[] {
    let isContinued = false
    return this.#selections.map(({ shards }, at) => {
      const format = rowFormats[this.#layout](summaries[at], isContinued)
      isContinued ||= shards.some(({ runs }) => runs.length > 0)
      return { shards, format }
    })
  }
}

/** By what is said of a source, and whether there are rows of another one before its own. */
type RowFormatOf = (source: SourceSummary, isContinued: boolean) => RowFormat

const rowFormats: Readonly<Record<ListLayout, RowFormatOf>> = {
  json: () => ({ kind: 'json' }),
  ndjson: ({ sourceId }) => ({ kind: 'ndjson', prefix: ndjsonRowPrefix(sourceId) }),
  geojson: ({ sourceId }, isContinued) => ({
    kind: 'geojson',
    prefix: geoJsonRowPrefix(sourceId),
    isContinued,
  }),
  flat: ({ sourceId, label }) => ({ kind: 'csv', prefix: csvRowPrefix(sourceId, label) }),
  sources: () => ({ kind: 'jsv' }),
  record: () => ({ kind: 'jsv' }),
}

/** How many recipients are on this page: the counts are of the whole list. */
export function rowCountOf(selections: readonly Pick<SourceSelection, 'shards'>[]): number {
  let rowCount = 0
  for (const { shards } of selections) {
    for (const { runs } of shards) rowCount += recipientCountOf(runs)
  }
  return rowCount
}

/** Keeps copies of what is written, for as long as somebody waits for them. */
function sinkInto(pieces: Uint8Array[], caller: Caller): ByteSink {
  return {
    get gone() {
      return caller.gone
    },
    write(piece) {
      pieces.push(copyOf(piece))
      return true
    },
    drained: () => Promise.resolve(),
  }
}
