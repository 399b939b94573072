/**
 * In which form a client wants its answer.
 *
 * @module
 */
import type { CsvLayout } from '../format/answer.js'
import { callbackOf } from '../format/jsonp.js'
import { type Format, layoutOf, negotiate } from '../format/negotiate.js'
import type { HttpRequest } from './request.js'

export interface Wishes {
  readonly format: Format
  readonly layout: CsvLayout
  /** JSON becomes a script that calls this function. */
  readonly callback: string | undefined
}

/** What is told where the wishes themselves cannot be understood. */
export const PLAIN: Wishes = { format: 'json', layout: 'flat', callback: undefined }

/** @throws ServiceError  when the layout or the callback is none */
export function wishesOf(request: HttpRequest): Wishes {
  const { query, suffix, pathFormat } = request
  const accept = request.header('accept')
  const contentType = request.header('content-type')
  const callback = callbackOf(query)
  const format = negotiate({ pathFormat, suffix, query, accept, contentType })
  return {
    format,
    layout: layoutOf(query),
    callback: format === 'json' ? callback : undefined,
  }
}
