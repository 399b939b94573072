/**
 * What the body of an error says. Messages come from our own code and never repeat what was sent.
 *
 * @module
 */
import type { ServiceError } from '../errors.js'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** The JSON body of an error; `Errors` names the member at fault, where there is one. */
export function errorBody(error: Pick<ServiceError, 'code' | 'message' | 'field'>): string {
  const { code, message, field } = error
  const errors =
    field === undefined ? [] : [{ ErrorCode: code, FieldName: field, Message: message }]
  return JSON.stringify({ ResponseStatus: { ErrorCode: code, Message: message, Errors: errors } })
}
