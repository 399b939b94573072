/**
 * A request of `node:http`, with the members of `EngineRequest`.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http'
import type { EngineRequest } from './engine.js'

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
