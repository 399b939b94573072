/**
 * Reads one HTTP answer out of the bytes of a connection as they come, each byte once, and keeps
 * nothing of its body: whoever reads a list must not be slower than who sends it.
 *
 * @module
 */

export interface AnswerStream {
  /** 0 until the first line was read. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly isOver: boolean
  /**
   * Takes what has arrived.
   *
   * @returns how many of the bytes belong to this answer: all of them until it is over
   * @throws Error  when it is no answer
   */
  read(bytes: Buffer): number
}

/**
 * @param onBody  is given each piece of the body, a view of the bytes that were read
 * @param headersOnly  whether the answer has no body, as one to HEAD
 */
export function createAnswerStream(
  onBody: (piece: Buffer) => void,
  headersOnly = false,
): AnswerStream {
  let status = 0
  let headers: Record<string, string> = {}
  let phase: LinePhase | 'body' | 'over' = 'status'
  let isChunked = false
  let missingBytes = 0
  let line = ''

  const endHead = () => {
    isChunked = headers['transfer-encoding'] === 'chunked'
    missingBytes = Number(headers['content-length'] ?? 0)
    if (headersOnly || status === 204 || status === 304) phase = 'over'
    else if (isChunked) phase = 'chunk size'
    else if (!Number.isSafeInteger(missingBytes)) throw new Error('the Content-Length is none')
    else phase = missingBytes > 0 ? 'body' : 'over'
  }
  const takeLine: Record<LinePhase, (text: string) => void> = {
    status(text) {
      status = statusOf(text)
      headers = {}
      phase = 'headers'
    },
    headers(text) {
      if (text !== '') Object.assign(headers, field(text))
      // Such as 100, which goes before the answer proper.
      else if (status < 200) phase = 'status'
      else endHead()
    },
    'chunk size'(text) {
      missingBytes = chunkBytesOf(text)
      phase = missingBytes > 0 ? 'body' : 'trailer'
    },
    'chunk end'(text) {
      if (text !== '') throw new Error('the end of a chunk is none')
      phase = 'chunk size'
    },
    trailer(text) {
      if (text === '') phase = 'over'
    },
  }
  return {
    get status() {
      return status
    },
    get headers() {
      return headers
    },
    get isOver() {
      return phase === 'over'
    },
    read(bytes) {
      let at = 0
      while (at < bytes.length && phase !== 'over') {
        if (phase === 'body') {
          const piece = bytes.subarray(at, at + missingBytes)
          onBody(piece)
          missingBytes -= piece.length
          at += piece.length
          if (missingBytes === 0) phase = isChunked ? 'chunk end' : 'over'
        } else {
          const lineEnd = bytes.indexOf('\n', at)
          const end = lineEnd < 0 ? bytes.length : lineEnd + 1
          line += bytes.toString('latin1', at, end)
          at = end
          if (lineEnd < 0) break
          if (!line.endsWith('\r\n')) throw new Error('the end of a line is none')
          takeLine[phase](line.slice(0, -2))
          line = ''
        }
      }
      return at
    },
  }
}

type LinePhase = 'status' | 'headers' | 'chunk size' | 'chunk end' | 'trailer'

function statusOf(line: string): number {
  const [, digits] = /^HTTP\/1\.1 ([0-9]{3})( |$)/.exec(line) ?? []
  if (digits === undefined) throw new Error('the status line is none')
  return Number(digits)
}

function field(line: string): Record<string, string> {
  const colon = line.indexOf(':')
  if (colon < 1) throw new Error('a header has no name')
  return { [line.slice(0, colon).toLowerCase()]: line.slice(colon + 1).trim() }
}

function chunkBytesOf(line: string): number {
  if (!/^[0-9a-fA-F]{1,8}$/.test(line)) throw new Error('a chunk has no length')
  return Number.parseInt(line, 16)
}
