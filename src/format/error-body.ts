/**
 * What the body of an error says. Messages come from our own code and never repeat what was sent.
 *
 * @module
 */
import type { ServiceError } from '../errors.js'
import { csvTable } from './csv.js'
import { ndjsonLine } from './ndjson.js'
import type { Format } from './negotiate.js'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Of errors and answers alike. */
export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: JSON_CONTENT_TYPE,
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
}

/** What is known about an error beside itself. */
export interface ErrorMeta {
  /** Which request of a batch failed, from 0. */
  readonly AutoBatchIndex: string
}

/**
 * The body of an error; `Errors` names the member at fault, where there is one. As CSV it is one
 * cell, as ServiceStack writes it; as NDJSON it is one line.
 */
export function errorBody(
  { code, message, field }: Pick<ServiceError, 'code' | 'message' | 'field'>,
  format: Format,
  meta?: ErrorMeta,
): string {
  const entry = { ErrorCode: code, FieldName: field, Message: message }
  const status = {
    ErrorCode: code,
    Message: message,
    Errors: field === undefined ? [] : [entry],
    ...(meta === undefined ? {} : { Meta: meta }),
  }
  const body = { ResponseStatus: status }
  if (format === 'csv') return csvTable(['ResponseStatus'], [body])
  const json = JSON.stringify(body)
  return format === 'ndjson' ? ndjsonLine(json) : json
}
