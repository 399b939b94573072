/**
 * Last stage: a list goes out chunk by chunk, each encoded only when the client has room for it,
 * so that memory does not grow with the length of the answer.
 *
 * @module
 */

import type { Format } from '../format/negotiate.js'
import {
  CSV_LIST_HEADER,
  csvRowPrefix,
  jsonSourceStart,
  type SourceSummary,
} from '../format/recipients.js'
import { limits } from '../limits.js'
import type { EncodeTask, QueryRunner } from '../pool/messages.js'
import type { SourceSelection } from './merge.js'
import type { Sink } from './reply.js'

/** Writes the recipients of every source; breaks the connection off when it cannot go on. */
export async function streamList(
  runner: QueryRunner,
  selections: readonly SourceSelection[],
  format: Format,
  sink: Sink,
): Promise<void> {
  try {
    for await (const chunk of pieces(runner, selections, format)) {
      if (!sink.write(chunk)) await sink.drained()
      if (sink.gone) return
    }
  } catch (error) {
    // The status is long gone, so a broken connection is the only way to say that this is not all.
    sink.abort()
    throw error
  }
  sink.end()
}

export function summaryOf({ source, count }: SourceSelection): SourceSummary {
  return { sourceId: source.id, label: source.label, count }
}

const utf8 = new TextEncoder()

async function* pieces(
  runner: QueryRunner,
  selections: readonly SourceSelection[],
  format: Format,
): AsyncGenerator<Uint8Array> {
  yield utf8.encode(format === 'csv' ? CSV_LIST_HEADER : '{"SourceRecords":[')
  for (const [at, selection] of selections.entries()) {
    if (format === 'csv') {
      const { id, label } = selection.source
      yield* rows(runner, selection, { kind: 'csv', prefix: csvRowPrefix(id, label) })
      continue
    }
    const start = `${at > 0 ? ',' : ''}${jsonSourceStart(summaryOf(selection))},"Recipients":[`
    yield utf8.encode(start)
    let isFirst = true
    for await (const chunk of rows(runner, selection, { kind: 'json' })) {
      // Each row begins with a comma; the first of a list must not.
      yield isFirst ? chunk.subarray(1) : chunk
      isFirst = false
    }
    yield utf8.encode(']}')
  }
  if (format === 'json') yield utf8.encode(']}')
}

async function* rows(
  runner: QueryRunner,
  selection: SourceSelection,
  format: EncodeTask['format'],
): AsyncGenerator<Uint8Array> {
  for (const { shardIndex, runs } of selection.shards) {
    for (const part of chunksOf(runs, limits.rowsPerChunkCount)) {
      const deadlineMs = performance.now() + limits.requestMs
      yield await runner.run<'encode'>(
        { kind: 'encode', shardIndex, runs: part, format },
        deadlineMs,
      )
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
