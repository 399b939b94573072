/**
 * The first bytes of a scratch zone: what the kernel is asked, and how far it has come.
 *
 * Byte offsets from the start of the zone, of Int32 unless it says otherwise; `…At` is an address
 * in the arena. Read by two compilers: the kernel in wasm/ imports this file as well.
 *
 * @module
 */

export const COORDS_AT = 0
/** First and last recipient of the subtree to begin with, and its axis: 0 for longitude. */
export const LEFT_RECIPIENT = 4
export const RIGHT_RECIPIENT = 136
export const ROOT_AXIS = 140
/** A range of this many recipients and one cannot be split. */
export const NODE_SIZE = 8
export const HAS_SHELL = 12
export const WANTS_RUNS = 16
export const EDGE_COUNT = 20
/** End of the stack; equal to its start when the descent is over. */
export const TOP_AT = 24
/** Starts and ends of runs in the buffer, alternately: twice the number of runs. */
export const BOUND_COUNT = 28
export const BOUND_COUNT_MAX = 32
export const FOUND_COUNT = 36
/** Float64: edge tests that may still be made. */
export const BUDGET = 40
/** Four: min lng, min lat, max lng, max lat of the subtree. */
export const BOX = 48
/** Addresses of the columns of the edge table. */
export const LOW_LNGS = 64
export const LOW_LATS = 68
export const LNG_SPANS = 72
export const LAT_SPANS = 76
export const MIN_LNGS = 80
export const MAX_LNGS = 84
export const SLACKS = 88
export const HIGH_LATS = 92
export const RING_BITS = 96
export const FIRST_LATS = 100
export const LAST_LATS = 104
/** A range of this many recipients and one need not be split if few edges matter in it. */
export const LEAF_SIZE = 108
export const STACK_AT = 112
export const LISTS_AT = 116
export const BOUNDS_AT = 120
export const PACKED_AT = 124
/** Loaded from to bring lines into the cache; written so that the loads are needed. */
export const SINK = 128
/** The set of recipients whose ranks are wanted, as ties/ranked-set.ts has it; 0 to want recipients. */
export const TIED_SET_AT = 132
export const HEADER_BYTES = 192

/** The results of the kernel. */
export const DONE = 0
/** The buffer of runs is full: empty it and go on with `resume`. */
export const FULL = 1
export const SPENT = 2

/** Bytes of a frame of the stack, and of an edge as the leaves want it. */
export const FRAME_BYTES = 48
export const PACKED_EDGE_BYTES = 64
/** Room for two frames a level, as in descend.ts. */
export const STACK_FRAME_COUNT = 80
/** Bounds that may be added between two looks at the room, beside those of a leaf. */
export const BOUNDS_SPARE_COUNT = 256
