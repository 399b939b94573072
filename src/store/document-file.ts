/**
 * One document in one file, read and checked.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import type { Static, TSchema } from '#typebox'
import { OperatorError, ServiceError } from '../errors.js'
import { bind } from '../interface/bind.js'
import { limits } from '../limits.js'

/**
 * Reads a document; its members come in the order of the schema.
 *
 * @throws OperatorError that names the file and, where there is one, the member at fault
 */
export function readDocument<Schema extends TSchema>(path: string, schema: Schema): Static<Schema> {
  const value = parse(path, read(path))
  return checked(path, () => bind(schema, value))
}

/** Lets a fault of a document name its file. */
export function checked<Result>(path: string, check: () => Result): Result {
  try {
    return check()
  } catch (fault) {
    if (fault instanceof ServiceError) throw invalid(path, fault.message, fault)
    throw fault
  }
}

export function invalid(path: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError('DocumentInvalid', `${path}: ${what}`, { cause })
}

function read(path: string): string {
  try {
    if (statSync(path).size <= limits.documentBytes) return readFileSync(path, 'utf8')
  } catch (fault) {
    throw invalid(path, 'cannot be read', fault)
  }
  throw invalid(path, `is larger than ${limits.documentBytes} bytes`)
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (fault) {
    // The engine's own message quotes the document.
    const position = /position (\d+)/.exec((fault as Error).message)?.[1]
    throw invalid(path, `is not JSON${position ? `: see character ${position}` : ''}`, fault)
  }
}
