/**
 * The formats of answers. A new format is one more name and one more entry of the table; the code that
 * depends on the format reads it from there.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { Answer, Body, CsvLayout } from './answer.js'
import { csvTable } from './csv.js'
import { ndjsonLine } from './ndjson.js'

export type Format = 'json' | 'csv' | 'ndjson' | 'geojson'

interface FormatRules {
  /** The Content-Type of an answer. */
  readonly contentType: string
  /** That of errors and of a list of answers, which a format may have no form for. */
  readonly otherContentType: string
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
  /** Whether a script can hold it, since it is JSON. */
  readonly hasScript: boolean
  /** Tells the ETags of the forms of one answer apart. */
  tag(layout: CsvLayout): string
  body(answer: Answer, layout: CsvLayout): Body
  /** @param error  the object that an error is in JSON */
  errorBody(error: Readonly<Record<string, unknown>>): string
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** In the order in which the Accept header prefers them. */
export const formats: Readonly<Record<Format, FormatRules>> = {
  json: {
    contentType: JSON_TYPE,
    otherContentType: JSON_TYPE,
    suffix: '.json',
    hasOwnPaths: true,
    accept: ['application/json'],
    requestType: undefined,
    fileSuffix: undefined,
    hasScript: true,
    tag: () => 'json',
    body: (answer) => answer.json(),
    errorBody: (error) => JSON.stringify(error),
  },
  csv: {
    contentType: 'text/csv',
    otherContentType: 'text/csv',
    suffix: '.csv',
    hasOwnPaths: true,
    accept: ['text/csv'],
    requestType: 'text/csv',
    fileSuffix: '.csv',
    hasScript: false,
    tag: (layout) => `csv-${layout}`,
    body: (answer, layout) => answer.csv(layout),
    // One cell, as ServiceStack writes it.
    errorBody: (error) => csvTable(Object.keys(error), [error]),
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    otherContentType: 'application/x-ndjson',
    suffix: undefined,
    hasOwnPaths: false,
    accept: ['application/x-ndjson', 'application/ndjson'],
    requestType: undefined,
    fileSuffix: undefined,
    hasScript: false,
    tag: () => 'ndjson',
    body: (answer) => answer.ndjson?.() ?? ndjsonLine(answer.json()),
    errorBody: (error) => ndjsonLine(JSON.stringify(error)),
  },
  geojson: {
    contentType: 'application/geo+json',
    otherContentType: JSON_TYPE,
    suffix: '.geojson',
    hasOwnPaths: false,
    accept: ['application/geo+json', 'application/vnd.geo+json'],
    // Who draws a shape in GeoJSON does not ask for one.
    requestType: undefined,
    fileSuffix: undefined,
    hasScript: true,
    tag: () => 'geojson',
    body(answer) {
      assert(answer.geoJson, 'only operations that have features are answered in GeoJSON')
      return answer.geoJson()
    },
    errorBody: (error) => JSON.stringify(error),
  },
}

/** The format of requests that ask for none. */
export const DEFAULT_FORMAT: Format = 'json'

export const formatNames = Object.keys(formats) as readonly Format[]

export function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name)
}
