/**
 * One document in one file: read and checked, or written so that it is there whole or not at all.
 *
 * @module
 */
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Static, TSchema } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { inMemberOrder, withoutNulls } from './member-order.js'

/**
 * Reads a document; its members come in the order of the schema.
 *
 * @throws OperatorError that names the file and, where there is one, the member at fault
 */
export async function readDocument<Schema extends TSchema>(
  path: string,
  schema: Schema,
): Promise<Static<Schema>> {
  const value = withoutNulls(parse(path, await read(path)))
  if (!Check(schema, value)) throw invalid(path, firstFault(schema, value))
  return inMemberOrder(schema, value) as Static<Schema>
}

export function invalid(path: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError('DocumentInvalid', `${path}: ${what}`, { cause })
}

/** Replaces the file at once and durably; after a crash there is the old one or the new one. */
export async function writeDocument(path: string, document: unknown): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const file = await open(temporary, 'wx', 0o644)
    try {
      await file.writeFile(`${JSON.stringify(document, undefined, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (fault) {
    await rm(temporary, { force: true })
    throw fault
  }
  await syncDirectory(dirname(path))
}

async function read(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size <= limits.documentBytes) return await readFile(path, 'utf8')
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
    throw invalid(path, `is not JSON${position && `: see character ${position}`}`, fault)
  }
}

function firstFault(schema: TSchema, value: unknown): string {
  const [fault] = Errors(schema, value)
  const where = memberPath(fault.instancePath)
  // A member for which the schema is just `false` is one that is not declared.
  const what = fault.keyword === 'boolean' ? 'is not a member that is known' : fault.message
  return where === '' ? what : `${where} ${what}`
}

/** `/Basemaps/0/Title` becomes `Basemaps[0].Title`. */
function memberPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step, i) => (/^\d+$/.test(step) ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join('')
}

/** A rename is durable only once the directory is. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
