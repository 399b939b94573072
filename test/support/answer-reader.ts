/**
 * Reads HTTP answers out of the bytes of a connection as they come, each byte once.
 *
 * @module
 */

export interface ReadAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** What came is no answer, or not where one could begin. */
export class MalformedAnswer extends Error {}

export class AnswerReader {
  /** Bytes that were not read yet. */
  #left: Buffer = Buffer.alloc(0)
  #head: Omit<ReadAnswer, 'body'> | undefined
  #chunks: Buffer[] = []
  /** Of the body or of the chunk; undefined where a chunk's length comes next. */
  #missingBytes: number | undefined
  #isChunked = false

  /** True while an answer has begun and is not whole. */
  get isWithin(): boolean {
    return this.#head !== undefined || this.#left.length > 0
  }

  /**
   * @param headersOnly  whether the next answer has no body, as one to HEAD
   * @returns the answer that these bytes complete, if any
   * @throws MalformedAnswer
   */
  push(bytes: Buffer, headersOnly = false): ReadAnswer | undefined {
    this.#left = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes])
    if (this.#head === undefined && !this.#readHead(headersOnly)) return undefined
    if (!(this.#isChunked ? this.#readChunks() : this.#readBody())) return undefined
    return this.#finish()
  }

  #readHead(headersOnly: boolean): boolean {
    const end = this.#left.indexOf('\r\n\r\n')
    if (end < 0) return false
    const [statusLine, ...lines] = this.#left.toString('latin1', 0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 ([0-9]{3})( |$)/.exec(statusLine)?.[1])
    if (Number.isNaN(status)) throw new MalformedAnswer('the status line is none')
    this.#left = this.#left.subarray(end + 4)
    // Such as 100, which goes before the answer proper.
    if (status < 200) return this.#readHead(headersOnly)
    const headers = Object.fromEntries(lines.map(field))
    this.#head = { status, headers }
    const isBodiless = headersOnly || status === 204 || status === 304
    this.#isChunked = !isBodiless && headers['transfer-encoding'] === 'chunked'
    const length = isBodiless ? 0 : Number(headers['content-length'] ?? 0)
    if (!Number.isSafeInteger(length)) throw new MalformedAnswer('the Content-Length is none')
    this.#missingBytes = this.#isChunked ? undefined : length
    return true
  }

  #readBody(): boolean {
    const taken = this.#left.subarray(0, this.#missingBytes)
    if (taken.length > 0) this.#chunks.push(taken)
    this.#left = this.#left.subarray(taken.length)
    this.#missingBytes = (this.#missingBytes ?? 0) - taken.length
    return this.#missingBytes === 0
  }

  /** A chunk of no bytes is the last one. */
  #readChunks(): boolean {
    for (;;) {
      if (this.#missingBytes === undefined) {
        const end = this.#left.indexOf('\r\n')
        if (end < 0) return false
        const text = this.#left.toString('latin1', 0, end)
        if (!/^[0-9a-fA-F]{1,8}$/.test(text)) throw new MalformedAnswer('a chunk has no length')
        this.#left = this.#left.subarray(end + 2)
        // With the line end that follows.
        this.#missingBytes = Number.parseInt(text, 16) + 2
        this.#isLastChunk = this.#missingBytes === 2
      }
      const isWhole = this.#left.length >= this.#missingBytes
      const taken = this.#left.subarray(0, this.#missingBytes)
      this.#left = this.#left.subarray(taken.length)
      this.#missingBytes -= taken.length
      this.#chunks.push(taken)
      if (!isWhole) return false
      this.#dropLineEnd()
      this.#missingBytes = undefined
      if (this.#isLastChunk) return true
    }
  }

  #isLastChunk = false

  /** The two bytes after a chunk may have come in pieces of their own. */
  #dropLineEnd(): void {
    for (let dropped = 0; dropped < 2; ) {
      const last = this.#chunks.pop() ?? Buffer.alloc(0)
      const kept = last.subarray(0, Math.max(0, last.length - (2 - dropped)))
      dropped += last.length - kept.length
      if (kept.length > 0) this.#chunks.push(kept)
    }
  }

  #finish(): ReadAnswer {
    const { status, headers } = this.#head ?? { status: 0, headers: {} }
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#head = undefined
    this.#chunks = []
    return { status, headers, body }
  }
}

function field(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new MalformedAnswer('a header has no name')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
