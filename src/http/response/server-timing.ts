/**
 * The header `Server-Timing` (W3C), for a client that asks where its time went.
 *
 * @module
 */
import type { StageTimes } from '../request-end.js'

/** The stages that are over when an answer begins, in milliseconds. */
export function serverTiming({ receive, parse, wait, select }: StageTimes): string {
  return Object.entries({ receive, parse, wait, select })
    .map(([stage, ms]) => `${stage};dur=${ms.toFixed(3)}`)
    .join(', ')
}
