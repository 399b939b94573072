/**
 * Last stage: sends a list chunk by chunk. While the client keeps up, a few chunks are encoded ahead,
 * otherwise none (write-rows.ts), so memory does not grow with the length of the answer.
 *
 * @module
 */
import {
  type Answer,
  type Body,
  type BodyWriter,
  type CsvLayout,
  type CsvRecord,
  writeBody,
} from '../format/answer.js'
import {
  CSV_RECORD_HEADER,
  csvRowPrefix,
  framed,
  frames,
  type ListLayout,
  ndjsonRowPrefix,
  type SourceSummary,
} from '../format/recipients.js'
import type { QueryRunner } from '../pool/messages.js'
import type { RowFormat } from '../shard/rows/row-format.js'
import type { Catalogue } from './catalogue.js'
import type { SourceSelection } from './merge.js'
import type { Listing } from './page.js'
import { writeRows } from './write-rows.js'

/** What a request is answered; a list is encoded only as it is read. */
export function recipientAnswer(
  { runner, catalogue }: { runner: QueryRunner; catalogue: Catalogue },
  countsOnly: boolean,
  listing: Listing,
): Answer {
  return new RecipientAnswer(runner, headersOf(catalogue, listing.next), countsOnly, listing)
}

class RecipientAnswer implements Answer {
  readonly headers: Answer['headers']
  readonly isPage: boolean
  readonly #runner: QueryRunner
  readonly #countsOnly: boolean
  readonly #selections: readonly SourceSelection[]

  constructor(
    runner: QueryRunner,
    headers: Answer['headers'],
    countsOnly: boolean,
    { selections, isPage }: Listing,
  ) {
    this.headers = headers
    this.isPage = isPage
    this.#runner = runner
    this.#countsOnly = countsOnly
    this.#selections = selections
  }

  get heldBytes(): number {
    return this.#selections.reduce((sum, selection) => sum + runBytesOf(selection), 0)
  }

  json(): Body {
    return this.#write('json')
  }

  ndjson(): Body {
    return this.#write('ndjson')
  }

  csv(layout: CsvLayout): Body {
    return this.#write(layout)
  }

  csvRecord(): CsvRecord {
    return { header: CSV_RECORD_HEADER, row: this.#write('record') }
  }

  #write(layout: ListLayout): Body {
    if (!this.#countsOnly) return list(this.#runner, this.#selections, layout)
    return framed(frames[layout].counts, this.#selections.map(summaryOf))
  }
}

/** Those of answers that are no pages are the same for a whole snapshot, and frozen. */
function headersOf(catalogue: Catalogue, next: string | undefined): Answer['headers'] {
  const known = headersByCatalogue.get(catalogue)
  const headers =
    known ??
    Object.freeze({
      'X-Snapshot': catalogue.snapshotId,
      // Phones and positions of people: no cache on the way may keep them.
      'Cache-Control': 'no-store',
    })
  if (known === undefined) headersByCatalogue.set(catalogue, headers)
  return next === undefined ? headers : { ...headers, 'X-Next-After': next }
}

const headersByCatalogue = new WeakMap<Catalogue, Answer['headers']>()

function runBytesOf({ shards }: SourceSelection): number {
  return shards.reduce((sum, { runs }) => sum + runs.byteLength, 0)
}

function summaryOf({ source, count }: SourceSelection): SourceSummary {
  return { sourceId: source.id, label: source.label, count }
}

function list(
  runner: QueryRunner,
  selections: readonly SourceSelection[],
  layout: ListLayout,
): BodyWriter {
  return async (sink) => {
    const frame = frames[layout].list
    await writeBody(frame.start, sink)
    for (const [at, selection] of selections.entries()) {
      const summary = summaryOf(selection)
      await writeBody(frame.sourceStart(summary, at), sink)
      await writeRows(runner, selection.shards, rowFormats[layout](summary), sink)
      if (sink.gone) return
      await writeBody(frame.sourceEnd, sink)
    }
    await writeBody(frame.end, sink)
  }
}

const rowFormats: Readonly<Record<ListLayout, (source: SourceSummary) => RowFormat>> = {
  json: () => ({ kind: 'json' }),
  ndjson: ({ sourceId }) => ({ kind: 'ndjson', prefix: ndjsonRowPrefix(sourceId) }),
  flat: ({ sourceId, label }) => ({ kind: 'csv', prefix: csvRowPrefix(sourceId, label) }),
  sources: () => ({ kind: 'jsv' }),
  record: () => ({ kind: 'jsv' }),
}
