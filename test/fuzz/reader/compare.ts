/**
 * What becomes of a body, as text: the query to the last bit, or the fault that is answered.
 *
 * @module
 */
import type { ServiceError } from '../../../src/errors.js'

/** A reader of bodies: from bytes to a query. */
export type Reader = (body: Uint8Array) => object

export function outcomeOf(read: Reader, body: Uint8Array): string {
  try {
    return describe(read(body))
  } catch (error) {
    // By its shape, since the reader may be that of another build.
    const { name, code, message, field } = error as ServiceError
    if (typeof code !== 'string') throw error
    return `${name} ${code} ${message} ${field}`
  }
}

function describe(value: unknown): string {
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    return `${value.constructor.name} ${bytes.toString('latin1')}`
  }
  if (Array.isArray(value)) return `[${value.map(describe).join()}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value).sort()
    return `{${members.map((name) => `${name}:${describe((value as Members)[name])}`).join()}}`
  }
  return Object.is(value, -0) ? '-0' : `${typeof value} ${value}`
}

type Members = Record<string, unknown>
