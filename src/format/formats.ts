/**
 * The formats of answers. A new format is one more name and one more entry of the table; the code that
 * depends on the format reads it from there.
 *
 * @module
 */
import type { Answer, Body, CsvLayout } from './answer.js'
import { csvTable } from './csv.js'
import { ndjsonLine } from './ndjson.js'

export type Format = 'json' | 'csv' | 'ndjson'

interface FormatRules {
  /** The Content-Type of answers and of errors. */
  readonly contentType: string
  /** The end of a path that asks for the format, with the dot; undefined where no suffix does. */
  readonly suffix: string | undefined
  /** Whether `/{format}/reply/{Operation}` and its relatives exist. */
  readonly hasOwnPaths: boolean
  /** Beginnings of Accept entries that ask for the format, in lower case. */
  readonly accept: readonly string[]
  /**
   * The media type of requests in this format. A client that sends it and accepts anything is answered
   * in the format. Undefined for the default, and for formats that requests do not have.
   */
  readonly requestType: string | undefined
  /** The suffix of saved answers, with the dot; undefined where browsers should show answers. */
  readonly fileSuffix: string | undefined
  /** Tells the ETags of the forms of one answer apart. */
  tag(layout: CsvLayout): string
  body(answer: Answer, layout: CsvLayout): Body
  /** @param error  the object that an error is in JSON */
  errorBody(error: Readonly<Record<string, unknown>>): string
}

/** In the order in which the Accept header prefers them. */
export const formats: Readonly<Record<Format, FormatRules>> = {
  json: {
    contentType: 'application/json; charset=utf-8',
    suffix: '.json',
    hasOwnPaths: true,
    accept: ['application/json'],
    requestType: undefined,
    fileSuffix: undefined,
    tag: () => 'json',
    body: (answer) => answer.json(),
    errorBody: (error) => JSON.stringify(error),
  },
  csv: {
    contentType: 'text/csv',
    suffix: '.csv',
    hasOwnPaths: true,
    accept: ['text/csv'],
    requestType: 'text/csv',
    fileSuffix: '.csv',
    tag: (layout) => `csv-${layout}`,
    body: (answer, layout) => answer.csv(layout),
    // One cell, as ServiceStack writes it.
    errorBody: (error) => csvTable(Object.keys(error), [error]),
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    suffix: undefined,
    hasOwnPaths: false,
    accept: ['application/x-ndjson', 'application/ndjson'],
    requestType: undefined,
    fileSuffix: undefined,
    tag: () => 'ndjson',
    body: (answer) => answer.ndjson?.() ?? ndjsonLine(answer.json()),
    errorBody: (error) => ndjsonLine(JSON.stringify(error)),
  },
}

/** The format of requests that ask for none. */
export const DEFAULT_FORMAT: Format = 'json'

export const formatNames = Object.keys(formats) as readonly Format[]

export function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name)
}
