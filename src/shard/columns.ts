/**
 * Recipients of one source as columns, in the order in which they were imported.
 *
 * @module
 */

export interface RecipientColumns {
  readonly recipientCount: number
  /** Units of 1e-7 degree. */
  readonly lngs: Int32Array
  readonly lats: Int32Array
  /** Contact of each recipient, dense from 0 in order of first appearance. */
  readonly contacts: Uint32Array
  readonly contactCount: number
  /** Where each number starts in `numbers`; one more entry than recipients. */
  readonly numberOffsets: Uint32Array
  readonly numbers: Uint8Array
}
