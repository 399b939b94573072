/**
 * What a batch is found by, whatever the length of its id.
 *
 * @module
 */
import { hash } from 'node:crypto'

/** Nobody finds two ids with the same beginning of a SHA-256. */
export const KEY_BYTES = 16

/** Of a SHA-256. */
export const DIGEST_BYTES = 32

/** A character for each byte. */
export function batchKey(sourceId: number, batchId: string): string {
  return hash('sha256', `${sourceId}\0${batchId}`, 'buffer').toString('latin1', 0, KEY_BYTES)
}
