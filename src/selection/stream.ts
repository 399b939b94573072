/**
 * Last stage: the answer in every format. A list is streamed (list.ts), so memory does not grow with the
 * length of the answer.
 *
 * @module
 */
import type { Answer, Body, CsvLayout, CsvRecord } from '../format/answer.js'
import { CSV_RECORD_HEADER, framed, frames, type ListLayout } from '../format/recipients.js'
import type { Caller, QueryRunner } from '../pool/messages.js'
import type { Catalogue } from './catalogue.js'
import { List } from './list.js'
import { type SourceSelection, summaryOf } from './merge.js'
import type { Listing } from './page.js'

/** What a request is answered; a list is encoded only as it is read. */
export function recipientAnswer(
  { runner, catalogue }: { runner: QueryRunner; catalogue: Catalogue },
  countsOnly: boolean,
  listing: Listing,
  caller: Caller,
): Answer {
  return new RecipientAnswer(
    runner,
    headersOf(catalogue, listing.next),
    countsOnly,
    listing,
    caller,
  )
}

class RecipientAnswer implements Answer {
  readonly headers: Answer['headers']
  readonly isPage: boolean
  readonly #runner: QueryRunner
  readonly #countsOnly: boolean
  readonly #selections: readonly SourceSelection[]
  readonly #caller: Caller

  constructor(
    runner: QueryRunner,
    headers: Answer['headers'],
    countsOnly: boolean,
    { selections, isPage }: Listing,
    caller: Caller,
  ) {
    this.headers = headers
    this.isPage = isPage
    this.#runner = runner
    this.#countsOnly = countsOnly
    this.#selections = selections
    this.#caller = caller
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

  geoJson(): Body {
    return this.#write('geojson')
  }

  csv(layout: CsvLayout): Body {
    return this.#write(layout)
  }

  csvRecord(): CsvRecord {
    return { header: CSV_RECORD_HEADER, row: this.#write('record') }
  }

  #write(layout: ListLayout): Body {
    const selections = this.#selections
    if (!this.#countsOnly) return new List(this.#runner, selections, layout, this.#caller)
    return framed(frames[layout].counts, selections.map(summaryOf))
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
