/**
 * A sink that keeps what it is given, and takes it as slowly as a test wants.
 *
 * @module
 */
import type { Sink } from '../../../src/selection/reply.js'

export interface MemorySink extends Sink {
  gone: boolean
  readonly receivedBytes: number
  readonly endCount: number
  readonly aborted: boolean
  /** Writes while it had not drained; a writer that waits makes none. */
  readonly rudeCount: number
  /** Lets a writer go on. */
  drain(): void
  bytes(): Buffer
}

/** @param takes  whether it has room after a piece; the number of the piece is from 0 */
export function memorySink(takes: (pieceIndex: number) => boolean = () => true): MemorySink {
  const pieces: Uint8Array[] = []
  let wake: (() => void) | undefined
  let draining = Promise.resolve()
  const state = { receivedBytes: 0, endCount: 0, aborted: false, rudeCount: 0 }
  const sink: MemorySink = {
    gone: false,
    get receivedBytes() {
      return state.receivedBytes
    },
    get endCount() {
      return state.endCount
    },
    get aborted() {
      return state.aborted
    },
    get rudeCount() {
      return state.rudeCount
    },
    write(piece) {
      if (sink.gone) return false
      if (wake !== undefined) state.rudeCount++
      pieces.push(Buffer.from(piece))
      state.receivedBytes += piece.length
      if (takes(pieces.length - 1)) return true
      draining = new Promise((resolve) => {
        wake = resolve
      })
      return false
    },
    drained: () => draining,
    drain() {
      wake?.()
      wake = undefined
    },
    end() {
      state.endCount++
    },
    abort() {
      state.aborted = true
      sink.gone = true
      sink.drain()
    },
    bytes: () => Buffer.concat(pieces),
  }
  return sink
}
