/**
 * A request of `node:http` and its answer, with the members and the rules of `EngineRequest` and `EngineResponse`.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../../limits.js'
import { addressBytes, addressText } from '../../tls/address-bytes.js'
import type { EngineRequest, EngineResponse } from './engine.js'

/** Clients of a proxy send it in front of the path, and a server must take it (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i

export class NodeRequest implements EngineRequest {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  getCaseSensitiveMethod(): string {
    return this.#request.method ?? ''
  }

  getUrl(): string {
    return this.#parts()[0]
  }

  getQuery(): string | undefined {
    return this.#parts()[1]
  }

  /** As sent: the library itself drops some headers that are there twice. */
  forEach(callback: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#request
    for (let i = 0; i < rawHeaders.length; i += 2) {
      callback(rawHeaders[i].toLowerCase(), rawHeaders[i + 1])
    }
  }

  #parts(): [path: string, query: string | undefined] {
    const url = (this.#request.url ?? '').replace(ORIGIN, '') || '/'
    const mark = url.indexOf('?')
    return mark < 0 ? [url, undefined] : [url.slice(0, mark), url.slice(mark + 1)]
  }
}

/** How an answer ended, for the connection. */
type Ending = 'goesOn' | 'closes'

interface NodeResponseOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The source address of the PROXY header in front of the connection. */
  readonly proxied: ArrayBuffer | undefined
  /** Called once, when nothing more is written. */
  readonly over: (ending: Ending) => void
}

export class NodeResponse implements EngineResponse {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #options: NodeResponseOptions
  #status = '200 OK'
  /** Names and values, in turn. */
  readonly #headers: string[] = []
  #aborted: (() => void) | undefined
  #isOver = false
  #closes = false
  /** Bytes of the body that were handed over. */
  #offset = 0
  /** What was handed over waits for the client. */
  #isBlocked = false

  constructor(options: NodeResponseOptions) {
    const { request, response } = options
    this.#request = request
    this.#response = response
    this.#socket = request.socket
    this.#options = options
    response.sendDate = false
    // Otherwise each answer says that the connection is kept, which HTTP/1.1 means anyway.
    response.removeHeader('Connection')
    response.on('close', () => this.#leave())
    // The library drops what is in the same packet behind it, and would read on from the midst of a request.
    if (request.headers.upgrade !== undefined) this.writeHeader('Connection', 'close')
    // What follows is `close`.
    response.on('error', ignore)
    request.on('error', ignore)
  }

  onAborted(handler: () => void): void {
    this.#aborted = handler
  }

  onData(handler: (piece: ArrayBuffer, isLast: boolean) => void): void {
    const declaredBytes = Number(this.#request.headers['content-length'] ?? Number.NaN)
    let receivedBytes = 0
    this.#request.on('data', (piece: Buffer) => {
      receivedBytes += piece.length
      if (!this.#isOver) handler(copyOf(piece), receivedBytes === declaredBytes)
    })
    this.#request.on('end', () => {
      if (receivedBytes !== declaredBytes && !this.#isOver) handler(new ArrayBuffer(0), true)
    })
    // Otherwise a body that does not even begin would not be noticed.
    setImmediate(() => {
      if (receivedBytes === 0 && !this.#isOver) handler(new ArrayBuffer(0), false)
    })
  }

  writeContinue(): void {
    this.#response.writeContinue()
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#response.on('drain', () => {
      this.#isBlocked = false
      if (!this.#isOver) handler(this.#offset)
    })
  }

  cork(write: () => void): void {
    this.#socket.cork()
    try {
      write()
    } finally {
      this.#socket.uncork()
    }
  }

  writeStatus(line: string): void {
    this.#status = line
  }

  writeHeader(name: string, value: string): void {
    if (/^connection$/i.test(name)) {
      if (this.#closes) return
      this.#closes = true
    }
    const [own, ...lines] = value.split('\r\n')
    this.#headers.push(name, own)
    for (const line of lines) {
      const colon = line.indexOf(':')
      this.#headers.push(line.slice(0, colon), line.slice(colon + 2))
    }
  }

  end(body: string | Uint8Array = '', closesConnection = false): void {
    if (closesConnection && !this.#closes) this.writeHeader('Connection', 'close')
    this.#writeHead(Buffer.byteLength(body))
    this.#finish(body)
  }

  endWithoutBody(): void {
    this.#writeHead(undefined)
    this.#finish('')
  }

  tryEnd(piece: string | Uint8Array, totalBytes: number): [fits: boolean, isComplete: boolean] {
    this.#writeHead(totalBytes)
    if (this.#isBlocked) return [false, false]
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    let at = 0
    while (at < bytes.length && !this.#isBlocked) {
      const part = bytes.subarray(at, at + WRITE_BYTES)
      at += part.length
      this.#offset += part.length
      if (this.#offset === totalBytes) {
        this.#finish(part)
        return [true, true]
      }
      this.#isBlocked = !this.#response.write(Buffer.from(part))
    }
    return [at === bytes.length, false]
  }

  getWriteOffset(): number {
    return this.#offset
  }

  write(piece: string | Uint8Array): boolean {
    this.#writeHead(undefined)
    this.#offset += Buffer.byteLength(piece)
    this.#isBlocked = !this.#response.write(ownCopyOf(piece))
    return !this.#isBlocked
  }

  close(): void {
    if (this.#isOver) return
    this.#socket.destroy()
    this.#leave()
  }

  /** There is no clock to set back: nothing but the service decides how long a client may wait. */
  pause(): void {}

  resume(): void {}

  getRemoteAddressAsText(): ArrayBuffer {
    const bytes = addressBytes(this.#socket.remoteAddress ?? '')
    return copyOf(Buffer.from(bytes === undefined ? '' : addressText(bytes)))
  }

  getProxiedRemoteAddress(): ArrayBuffer {
    return this.#options.proxied ?? new ArrayBuffer(0)
  }

  /** @param byteCount  of the whole body; undefined for chunks, and where there is none */
  #writeHead(byteCount: number | undefined): void {
    if (this.#response.headersSent) return
    if (byteCount !== undefined) this.#headers.push('Content-Length', String(byteCount))
    const code = Number(this.#status.slice(0, 3))
    this.#response.writeHead(code, this.#status.slice(4), this.#headers)
  }

  #finish(rest: string | Uint8Array): void {
    this.#isOver = true
    const response = this.#response
    response.end(ownCopyOf(rest))
    if (this.#socket.writableLength > 0) {
      const socket = this.#socket
      const timer = setTimeout(() => socket.destroy(), limits.clientStallMs)
      response.once('close', () => clearTimeout(timer))
    }
    this.#options.over(this.#closes ? 'closes' : 'goesOn')
  }

  /** The connection is gone. */
  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.over('closes')
    this.#aborted?.()
  }
}

/** At most so many bytes wait in memory for a client, and those that the system has taken before. */
const WRITE_BYTES = 256 << 10

/** The library reads what it is given later, when its memory may hold other bytes. */
function ownCopyOf(piece: string | Uint8Array): string | Buffer {
  return typeof piece === 'string' ? piece : Buffer.from(piece)
}

function copyOf({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}

function ignore(): void {}
