/**
 * What the store has of the use of a key, as JSON. It is no truth that anything depends on: a note that is
 * damaged is one of no use.
 *
 * @module
 */
import { USE_PLACES } from './key-memory.js'

export interface KeyUse {
  /** Of UTC, since 1970. */
  readonly day: number
  /** Of lists on that day. */
  readonly rowCount: number
  /** When it was last used, by `USE_PLACES`, in milliseconds since 1970; 0 is never. */
  readonly usedMs: readonly number[]
}

export function readKeyUse(json: string | undefined): KeyUse {
  try {
    const { day, rowCount, usedMs } = JSON.parse(json ?? '{}') as Partial<KeyUse>
    return {
      day: whole(day),
      rowCount: whole(rowCount),
      usedMs: USE_PLACES.map((i) => whole(usedMs?.[i])),
    }
  } catch {
    return { day: 0, rowCount: 0, usedMs: USE_PLACES.map(() => 0) }
  }
}

function whole(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0
}
