/**
 * The version of a document and the key of a shape. Apart from what is hashed, so that the process
 * that checks a store starts without the schemas, which take longer to load than most stores to read.
 *
 * @module
 */
import { createHash } from 'node:crypto'

/** 128 bits, as 32 hexadecimal digits. */
export function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
