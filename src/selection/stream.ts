/**
 * Last stage: a list goes out chunk by chunk, each encoded only when the client has room for it,
 * so that memory does not grow with the length of the answer.
 *
 * @module
 */
import type { Answer, Body } from '../format/answer.js'
import {
  CSV_RECORD_HEADER,
  csvRowPrefix,
  framed,
  frames,
  type ListLayout,
  type SourceSummary,
} from '../format/recipients.js'
import { limits } from '../limits.js'
import { callerUntil, type QueryRunner } from '../pool/messages.js'
import type { RowFormat } from '../shard/rows.js'
import type { Catalogue } from './catalogue.js'
import type { SourceSelection } from './merge.js'

/** What a request is answered; a list is encoded only as it is read. */
export function recipientAnswer(
  { runner, catalogue }: { runner: QueryRunner; catalogue: Catalogue },
  countsOnly: boolean,
  selections: readonly SourceSelection[],
): Answer {
  const write = (layout: ListLayout): Body =>
    countsOnly
      ? framed(frames[layout].counts, selections.map(summaryOf))
      : pieces(runner, selections, layout)
  return {
    headers: {
      'X-Snapshot': catalogue.snapshotId,
      // Numbers and positions of people: no cache on the way may keep them.
      'Cache-Control': 'no-store',
    },
    heldBytes: selections.reduce((sum, selection) => sum + runBytesOf(selection), 0),
    json: () => write('json'),
    csv: write,
    csvRecord: () => ({ header: CSV_RECORD_HEADER, row: write('record') }),
  }
}

function runBytesOf({ shards }: SourceSelection): number {
  return shards.reduce((sum, { runs }) => sum + runs.byteLength, 0)
}

function summaryOf({ source, count }: SourceSelection): SourceSummary {
  return { sourceId: source.id, label: source.label, count }
}

const utf8 = new TextEncoder()

async function* pieces(
  runner: QueryRunner,
  selections: readonly SourceSelection[],
  layout: ListLayout,
): AsyncGenerator<Uint8Array> {
  const frame = frames[layout].list
  yield utf8.encode(frame.start)
  for (const [at, selection] of selections.entries()) {
    const summary = summaryOf(selection)
    const format = rowFormatOf(layout, summary)
    yield utf8.encode(frame.sourceStart(summary, at))
    // In a list each row begins with a comma; the first must not.
    let skippedBytes = format.kind === 'csv' ? 0 : 1
    for await (const chunk of rows(runner, selection, format)) {
      yield chunk.subarray(skippedBytes)
      skippedBytes = 0
    }
    yield utf8.encode(frame.sourceEnd)
  }
  yield utf8.encode(frame.end)
}

function rowFormatOf(layout: ListLayout, { sourceId, label }: SourceSummary): RowFormat {
  if (layout === 'json') return { kind: 'json' }
  return layout === 'flat'
    ? { kind: 'csv', prefix: csvRowPrefix(sourceId, label) }
    : { kind: 'jsv' }
}

async function* rows(
  runner: QueryRunner,
  selection: SourceSelection,
  format: RowFormat,
): AsyncGenerator<Uint8Array> {
  for (const { shardIndex, runs } of selection.shards) {
    for (const part of chunksOf(runs, limits.rowsPerChunkCount)) {
      const caller = callerUntil(performance.now() + limits.requestMs)
      yield await runner.run<'encode'>({ kind: 'encode', shardIndex, runs: part, format }, caller)
    }
  }
}

/** Cuts runs into lists of runs that hold at most `rowCount` recipients each. */
function* chunksOf(runs: Uint32Array, rowCount: number): Generator<Uint32Array> {
  let part: number[] = []
  let room = rowCount
  for (let i = 0; i < runs.length; i += 2) {
    let start = runs[i]
    while (start < runs[i + 1]) {
      const end = Math.min(runs[i + 1], start + room)
      part.push(start, end)
      room -= end - start
      start = end
      if (room > 0) continue
      yield Uint32Array.from(part)
      part = []
      room = rowCount
    }
  }
  if (part.length > 0) yield Uint32Array.from(part)
}
