/**
 * Where everything lies in the memory of the skeleton: byte addresses, and how many there may be.
 * What does not fit is read the long way. Read by two compilers: the code in wasm/ imports this file
 * as well.
 *
 * @module
 */

/** Int32: how many arrays were taken out. */
export const ARRAY_COUNT = 32
/** Int32: 1 where the text has bytes beyond ASCII. */
export const HAS_MORE_THAN_ASCII = 36

/** The body. The numbers are those of limits.ts, which scan.ts asserts. */
export const INPUT = 65_536
export const INPUT_BYTES_MAX = 4_194_304
/** What is left of it. It is never longer, but copied by vectors. */
export const TEXT = 4_325_376
/** Float64: longitude and latitude, or x and y, of each vertex. */
export const VERTICES = 8_585_216
export const VERTEX_COUNT_MAX = 50_000
/** Float64, four of each ring: min lng, min lat, max lng, max lat. */
export const RING_BOUNDS = 9_385_216
export const RING_COUNT_MAX = 10_000
/** Uint32: where the vertices of each ring start, and where those of the last one end. */
export const RING_STARTS = 9_705_216
/** Uint32: bits of each ring, see below. */
export const RING_BITS = 9_745_280
/** Uint32: where the rings of each polygon end. The first of an array starts where the array does. */
export const POLYGON_ENDS = 9_785_280
/** Int32, `ARRAY_WORDS` of each array that was taken out. */
export const ARRAYS = 9_825_344
export const ARRAY_COUNT_MAX = 10_000
export const ARRAY_WORDS = 4
/** Words of an array: its name, how deep it nests, its first ring and its first polygon. */
export const ARRAY_NAME = 0
export const ARRAY_DEPTH = 1
export const ARRAY_RING = 2
export const ARRAY_POLYGON = 3
/** Texts that were left of earlier bodies, each at its place by a hash, and Uint32: their lengths. */
export const KEPT_TEXTS = 9_990_400
export const KEPT_TEXT_BYTES_MAX = 512
export const KEPT_TEXT_COUNT = 64
export const KEPT_TEXT_BYTES = 10_023_168
/** All of it, in pages of 64 KiB. */
export const PAGE_COUNT = 153

/** Names of members that are taken out. */
export const COORDINATES = 0
export const RINGS = 1
export const PATHS = 2
export const POINTS = 3

/** The last vertex of a ring is the first again. */
export const IS_CLOSED = 1
/** A ring has three different vertices. */
export const HAS_THREE = 2
/** All longitudes are clearly within ±180, and so near that no edge could go the other way. */
export const IS_NARROW = 4
