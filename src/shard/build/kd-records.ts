/**
 * Recipients that are put into kd order, 32 bytes each. Read by two compilers, see wasm/kd-sort.ts.
 *
 * @module
 */

/** In the memory of that code. */
export const RECORDS_AT = 4_096
export const RECORD_BYTES = 32
