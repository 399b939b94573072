/**
 * A reply that keeps what it is given.
 *
 * @module
 */
import type { Reply, ReplyHeaders, Sink } from '../../../src/selection/reply.js'

export interface MemoryReply extends Reply {
  gone: boolean
  readonly status: number
  readonly headers: ReplyHeaders
  /** Of a body that was streamed, where that was told. */
  readonly byteCount: number | undefined
  readonly ended: boolean
  readonly aborted: boolean
  readonly chunkCount: number
  /** Times that a writer had to wait. */
  readonly waitCount: number
  text(): string
}

/** @param busyEvery  every so many writes, the client does not keep up; 0 is never */
export function memoryReply(busyEvery = 0): MemoryReply {
  const chunks: Uint8Array[] = []
  const state = {
    status: 0,
    headers: {} as ReplyHeaders,
    byteCount: undefined as number | undefined,
    ended: false,
    aborted: false,
    waitCount: 0,
  }
  const reply: MemoryReply = {
    gone: false,
    get status() {
      return state.status
    },
    get headers() {
      return state.headers
    },
    get byteCount() {
      return state.byteCount
    },
    get ended() {
      return state.ended
    },
    get aborted() {
      return state.aborted
    },
    get chunkCount() {
      return chunks.length
    },
    get waitCount() {
      return state.waitCount
    },
    text: () => Buffer.concat(chunks).toString(),
    whenOver: () => {},
    rowsSent: () => {},
    send(status, headers, body) {
      Object.assign(state, { status, headers, ended: true })
      chunks.push(typeof body === 'string' ? Buffer.from(body) : body)
    },
    begin(status, headers, byteCount): Sink {
      Object.assign(state, { status, headers, byteCount })
      return {
        get gone() {
          return reply.gone
        },
        write(chunk) {
          chunks.push(Buffer.from(chunk))
          return busyEvery === 0 || chunks.length % busyEvery !== 0
        },
        async drained() {
          state.waitCount++
        },
        end: () => {
          const writtenBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
          if (byteCount !== undefined && writtenBytes !== byteCount) {
            throw new Error(`${writtenBytes} bytes are written of ${byteCount}`)
          }
          state.ended = true
        },
        abort: () => {
          state.aborted = true
        },
      }
    },
  }
  return reply
}
