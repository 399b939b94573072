/**
 * Last stage: the answer in every format. A list is streamed (list.ts), so memory does not grow with the
 * length of the answer.
 *
 * @module
 */
import type { Answer, AnswerRecord, Body, CsvLayout, CsvRecord } from '../format/answer.js'
import {
  CSV_RECORD_HEADER,
  type Frame,
  framed,
  frames,
  type ListLayout,
  withMembers,
} from '../format/recipients.js'
import { warningHeaders } from '../format/warning-headers.js'
import type { Shapes } from '../geometry/shapes.js'
import type { Warning } from '../interface/warnings.js'
import type { Caller, QueryRunner } from '../pool/tasks.js'
import type { Catalogue } from './catalogue.js'
import { List, rowCountOf } from './list.js'
import { type SourceSelection, summaryOf } from './merge.js'
import type { Listing } from './page.js'
import { shapesRecord } from './shapes-record.js'
import type { Query } from './validate.js'

/**
 * What a request is answered; a list is encoded only as it is read.
 *
 * @param coverage  of a request that is content with a part: which part it is, from 0 to 1
 */
export function recipientAnswer(
  { runner, catalogue }: { runner: QueryRunner; catalogue: Catalogue },
  { countsOnly, remarks, shapes }: Pick<Query, 'countsOnly' | 'remarks' | 'shapes'>,
  listing: Listing,
  caller: Caller,
  coverage?: string,
): Answer {
  const { warnings } = remarks
  const plain = headersOf(catalogue, listing.next, warnings)
  const headers = coverage === undefined ? plain : { ...plain, 'X-Coverage': coverage }
  return new RecipientAnswer(runner, headers, countsOnly, listing, warnings, shapes, caller)
}

class RecipientAnswer implements Answer {
  readonly headers: Answer['headers']
  readonly isPage: boolean
  readonly #runner: QueryRunner
  readonly #countsOnly: boolean
  readonly #selections: readonly SourceSelection[]
  /** The cursor of what follows. */
  readonly #next: string | undefined
  readonly warnings: readonly Warning[] | undefined
  readonly #shapes: Shapes
  readonly #caller: Caller

  constructor(
    runner: QueryRunner,
    headers: Answer['headers'],
    countsOnly: boolean,
    { selections, isPage, next }: Listing,
    warnings: readonly Warning[] | undefined,
    shapes: Shapes,
    caller: Caller,
  ) {
    this.headers = headers
    this.isPage = isPage
    this.#runner = runner
    this.#countsOnly = countsOnly
    this.#selections = selections
    this.#next = next
    this.warnings = warnings
    this.#shapes = shapes
    this.#caller = caller
  }

  get heldBytes(): number {
    return this.#selections.reduce((sum, selection) => sum + runBytesOf(selection), 0)
  }

  get isList(): boolean {
    return !this.#countsOnly
  }

  records(): readonly AnswerRecord[] {
    const shapes = this.#shapes
    const sources = this.#selections.map(({ source, count }) => ({ id: source.id, count }))
    const snapshotId = this.headers['X-Snapshot']
    const changesSequence = Number(this.headers['X-Sequence'])
    const rowCount = rowCountOf(this.#selections)
    const facts = () => ({
      snapshotId,
      changesSequence,
      shapes: shapesRecord(shapes),
      sources,
      ...(!this.#countsOnly && { rowCount }),
    })
    return [{ facts }]
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
    if (this.#countsOnly) {
      return framed(this.#frame(layout, frames[layout].counts), selections.map(summaryOf))
    }
    const frame = this.#frame(layout, frames[layout].list)
    return new List(this.#runner, selections, layout, this.#caller, frame)
  }

  /** In JSON and GeoJSON there is room for what the headers say. */
  #frame(layout: ListLayout, frame: Frame): Frame {
    const isPlain = this.#next === undefined && this.warnings === undefined
    if (isPlain || !MEMBERED.includes(layout)) return frame
    return withMembers(frame, { NextAfter: this.#next, Warnings: this.warnings })
  }
}

/** Layouts that end with an object, which may have members of ours. */
const MEMBERED: readonly ListLayout[] = ['json', 'geojson']

/** Those of answers that are no pages are the same for a whole snapshot, and frozen. */
function headersOf(
  catalogue: Catalogue,
  next: string | undefined,
  warnings: readonly Warning[] | undefined,
): Answer['headers'] {
  const known = headersByCatalogue.get(catalogue)
  const headers =
    known ??
    Object.freeze({
      'X-Snapshot': catalogue.snapshotId,
      'X-Sequence': String(catalogue.sequence),
      // Phones and positions of people: no cache on the way may keep them.
      'Cache-Control': 'no-store',
    })
  if (known === undefined) headersByCatalogue.set(catalogue, headers)
  if (next === undefined && warnings === undefined) return headers
  return {
    ...headers,
    ...(next !== undefined && { 'X-Next-After': next }),
    ...warningHeaders(warnings),
  }
}

const headersByCatalogue = new WeakMap<Catalogue, Answer['headers']>()

function runBytesOf({ shards }: SourceSelection): number {
  return shards.reduce((sum, { runs }) => sum + runs.byteLength, 0)
}
