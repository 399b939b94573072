/**
 * The environment of a thread that clips: polygon-clipping reads its guards against endless loops
 * from there when it is loaded, and has no other way to be told.
 *
 * @module
 */
import { limits } from '../limits.js'

export const CLIPPING_ENVIRONMENT: Readonly<Record<string, string>> = {
  POLYGON_CLIPPING_MAX_QUEUE_SIZE: String(limits.clipEventCount),
  POLYGON_CLIPPING_MAX_SWEEPLINE_SEGMENTS: String(limits.clipEventCount),
}
