/**
 * Reads how a client wants its answer.
 *
 * @module
 */
import type { CsvLayout } from '../../format/answer.js'
import { DEFAULT_FORMAT, type Format, formats } from '../../format/formats.js'
import { callbackOf } from '../../format/jsonp.js'
import { type FormatHints, layoutOf, negotiate } from '../../format/negotiate.js'

export interface ResponseOptions {
  readonly format: Format
  readonly layout: CsvLayout
  /** JSON, or GeoJSON, becomes a script that calls this function. */
  readonly callback: string | undefined
}

/** The options of errors whose request could not be read so far, or has options that are not valid. */
export const DEFAULT_OPTIONS: ResponseOptions = {
  format: DEFAULT_FORMAT,
  layout: 'flat',
  callback: undefined,
}

/** @throws ServiceError  when the format, the layout or the callback is not valid */
export function responseOptionsOf(hints: FormatHints): ResponseOptions {
  const callback = callbackOf(hints.query)
  const format = negotiate(hints)
  return {
    format,
    layout: layoutOf(hints.query),
    callback: formats[format].hasScript ? callback : undefined,
  }
}
