/**
 * Reads one HTTP answer off a connection, with less work than a client of node:http does: whoever
 * reads a list must not be slower than who sends it.
 *
 * @module
 */

export interface AnswerReader {
  /** Undefined until the first line was read. */
  readonly status: number | undefined
  /** Whether all of the answer was read. */
  readonly isOver: boolean
  /**
   * Takes what has arrived.
   *
   * @throws Error  when it is no answer
   */
  read(bytes: Buffer): void
}

/** @param onBody  is given each piece of the body, which it may not keep */
export function createAnswerReader(onBody: (bytes: Uint8Array) => void): AnswerReader {
  let status: number | undefined
  let phase: 'head' | 'body' | 'chunk size' | 'trailer' | 'over' = 'head'
  let isChunked = false
  let leftBytes = 0
  let line = ''
  const takeLine: Record<'head' | 'chunk size' | 'trailer', (text: string) => void> = {
    head(text) {
      status ??= statusOf(text)
      const [, name, value] = /^(content-length|transfer-encoding): *(\S+)$/i.exec(text) ?? []
      if (name?.toLowerCase() === 'content-length') leftBytes = Number(value)
      else if (name !== undefined) isChunked = true
      if (text === '') phase = isChunked ? 'chunk size' : leftBytes > 0 ? 'body' : 'over'
    },
    'chunk size'(text) {
      // The end of the chunk before.
      if (text === '') return
      leftBytes = Number.parseInt(text, 16)
      if (Number.isNaN(leftBytes)) throw new Error('a chunk has no size')
      phase = leftBytes > 0 ? 'body' : 'trailer'
    },
    trailer(text) {
      if (text === '') phase = 'over'
    },
  }
  return {
    get status() {
      return status
    },
    get isOver() {
      return phase === 'over'
    },
    read(bytes) {
      let at = 0
      while (at < bytes.length && phase !== 'over') {
        if (phase === 'body') {
          const end = Math.min(bytes.length, at + leftBytes)
          onBody(bytes.subarray(at, end))
          leftBytes -= end - at
          at = end
          if (leftBytes === 0) phase = isChunked ? 'chunk size' : 'over'
        } else {
          const lineEnd = bytes.indexOf('\n', at)
          const end = lineEnd < 0 ? bytes.length : lineEnd + 1
          line += bytes.toString('latin1', at, end)
          at = end
          if (lineEnd < 0) return
          takeLine[phase](line.trimEnd())
          line = ''
        }
      }
    },
  }
}

function statusOf(line: string): number {
  const [, digits] = /^HTTP\/1\.1 ([0-9]{3})/.exec(line) ?? []
  if (digits === undefined) throw new Error('an answer does not begin like one')
  return Number(digits)
}
