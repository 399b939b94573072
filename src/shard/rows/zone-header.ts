/**
 * The first bytes of the part of a scratch zone in which rows are written: what the encoder is
 * asked, and how far it has come.
 *
 * Byte offsets from the start of that part, of Int32 unless it says otherwise; `…_AT` is an address
 * in the arena. Read by two compilers: the encoder in wasm/ imports this file as well.
 *
 *   row     prefix | phone | text before the first coordinate | first coordinate |
 *           text before the second coordinate | second coordinate | end
 *
 * @module
 */

/** The columns of the shard. */
export const COORDS_AT = 0
export const OFFSETS_AT = 4
export const PHONES_AT = 8
/** Runs that are not written yet: of the first one its start moves on with the rows. */
export const RUNS_AT = 12
export const RUNS_END_AT = 16
/** Where the next row goes, and the last place where one may begin. */
export const ROWS_AT = 20
export const LAST_ROW_AT = 24
/** Rows that the last call wrote. */
export const ROW_COUNT = 28
/** How phones are escaped: one of the following. */
export const ESCAPES = 32
export const BEFORE_FIRST_BYTES = 36
export const BEFORE_SECOND_BYTES = 40
export const END_BYTES = 44
/** Bytes of the end of a row and the prefix of the next one together. */
export const BETWEEN_BYTES = 48
/** 16 bytes: for each lower half of a byte the sign, if any, for which a phone is looked at closely. */
export const SIGNS = 64
/** Texts that are copied 16 bytes at a time. */
export const BEFORE_FIRST = 80
export const BEFORE_FIRST_BYTES_MAX = 48
export const BEFORE_SECOND = 128
export const BEFORE_SECOND_BYTES_MAX = 16
/** The end of a row and then the prefix of the next one. */
export const BETWEEN = 144
export const END_BYTES_MAX = 16
export const PREFIX_BYTES_MAX = 496
/** 16 bytes: which bytes of the coordinates of two recipients go where, so that the second goes first. */
export const ORDER = 656
/**
 * The text of each whole number of degrees as 4 bytes, and then how many of them count; those below
 * zero begin `WHOLES_BELOW_ZERO` later, with `-0`.
 */
export const WHOLES = 672
export const WHOLES_BELOW_ZERO = 2_048
export const HEADER_BYTES = 4_176

export const ESCAPE_JSON = 0
export const ESCAPE_CSV = 1
export const ESCAPE_JSV = 2

/** Bytes that are read behind the beginning of a phone, and written behind the end of a row, at most. */
export const READ_BYTES = 16
export const OVERWRITTEN_BYTES = 32
