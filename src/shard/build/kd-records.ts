/**
 * Where recipients lie that are put into kd order; read by two compilers, see wasm/kd-sort.ts.
 *
 * @module
 */

export const RECORDS_AT = 4_096
