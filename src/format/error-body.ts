/**
 * The body of an error. Messages come from our own code and never repeat what was sent.
 *
 * @module
 */
import type { ServiceError } from '../errors.js'
import { type Format, formats } from './formats.js'

/** Facts about an error that are not part of it. */
export interface ErrorMeta {
  /** Which request of a batch failed, from 0. */
  readonly AutoBatchIndex: string
}

/** The body of an error; `Errors` names the member at fault, where there is one. */
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
  return formats[format].errorBody({ ResponseStatus: status })
}
