/**
 * What one record of a chain knows of the record before it.
 *
 * @module
 */

/** A record, as the next one knows it. */
export interface Link {
  /** 1 for the first record of a directory; 0 before it. */
  readonly sequence: number
  /** SHA-256 in hexadecimal digits; of what, the kind of the chain says. */
  readonly hash: string
}

/** Before the first record. */
export const BEGINNING: Link = { sequence: 0, hash: '0'.repeat(64) }
