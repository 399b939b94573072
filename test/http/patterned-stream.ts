/**
 * A route that streams bytes by which a lost or repeated piece shows.
 *
 * @module
 */
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import type { Reply, Sink } from '../../src/selection/reply.js'

/** What the handler of the route has done so far. */
export interface Seen {
  reply?: Reply
  sink?: Sink
  writtenBytes: number
  blockedCount: number
}

export interface StreamPlan {
  /** The bytes of each piece. */
  readonly pieces: Iterable<number>
  /** The length that the answer tells; it goes in chunks if undefined. */
  readonly toldBytes?: number
}

export const PIECE_BYTES = 600 * 1024

export const nothingSeen = (): Seen => ({ writtenBytes: 0, blockedCount: 0 })

/** `GET /stream`: writes pieces from shared memory that is used again for each, somewhere in it. */
export function streamRoute(seen: Seen, plan: StreamPlan): Route<Handler> {
  const stream: Handler = async (_, reply) => {
    const sink = reply.begin(200, { 'Content-Type': 'text/csv' }, plan.toldBytes)
    Object.assign(seen, { reply, sink })
    const memory = new Uint8Array(new SharedArrayBuffer(PIECE_BYTES + 16))
    for (const byteCount of plan.pieces) {
      if (sink.gone) return
      const piece = memory.subarray(byteCount % 16, (byteCount % 16) + byteCount)
      piece.set(pattern(byteCount, seen.writtenBytes))
      const taken = sink.write(piece)
      piece.fill(255)
      seen.writtenBytes += byteCount
      if (taken) continue
      seen.blockedCount++
      await sink.drained()
    }
    sink.end()
  }
  return { path: '/stream', methods: { GET: stream } }
}

/** Equal pieces and a shorter one; may be gone through more than once. */
export function piecesOf(totalBytes: number, pieceBytes = PIECE_BYTES): Iterable<number> {
  return {
    *[Symbol.iterator]() {
      for (let at = 0; at < totalBytes; at += pieceBytes)
        yield Math.min(pieceBytes, totalBytes - at)
    },
  }
}

/** Byte i is i modulo 251. */
export function pattern(byteCount: number, start = 0): Buffer {
  const bytes = Buffer.allocUnsafe(byteCount)
  const period = PERIODS.subarray(start % 251)
  for (let at = 0; at < byteCount; at += COPIED_BYTES) period.copy(bytes, at, 0, COPIED_BYTES)
  return bytes
}

const COPIED_BYTES = 251 * 1024
const PERIODS = Buffer.from(Array.from({ length: COPIED_BYTES + 251 }, (_, i) => i % 251))
