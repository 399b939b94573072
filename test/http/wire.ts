/**
 * A real server on a free port, and a client that sees every byte.
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { OPEN_ADMISSION } from '../../src/http/gate.js'
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import { HttpServer } from '../../src/http/server.js'
import { limits } from '../../src/limits.js'
import { createLog, type Log } from '../../src/log.js'
import { privatePage } from '../../src/metrics/memory.js'
import { engine } from '../support/service/engine.js'

export interface TestServer {
  readonly server: HttpServer
  readonly port: number
  /** What was logged as an error, in order. */
  readonly faults: Record<string, unknown>[]
  /** What was logged of each request that is over, in order. */
  readonly ends: Record<string, unknown>[]
  /** What was logged as a warning: answers that were cut off. */
  readonly cuts: Record<string, unknown>[]
}

type ServerOptions = ConstructorParameters<typeof HttpServer>[0]

/** @param options  and bounds that differ from `limits` until the test is over */
export async function startServer(
  t: Test,
  routes: Route<Handler>[],
  {
    bounds = {},
    ...options
  }: Partial<Omit<ServerOptions, 'routes' | 'log'>> & {
    readonly bounds?: Partial<Record<keyof typeof limits, number>>
  } = {},
): Promise<TestServer> {
  const usual = { ...limits }
  Object.assign(limits, bounds)
  t.teardown(() => Object.assign(limits, usual))
  const faults: Record<string, unknown>[] = []
  const ends: Record<string, unknown>[] = []
  const cuts: Record<string, unknown>[] = []
  const log = recordingLog(faults, ends, cuts)
  const server = new HttpServer({ ...OPEN_SERVER, routes, log, ...options })
  const port = await server.listen({ host: '127.0.0.1', port: 0, isShared: false })
  t.teardown(() => server.close())
  return { server, port, faults, ends, cuts }
}

/** An open service that has room for everything, and tells only the log. */
export const OPEN_SERVER: Omit<ServerOptions, 'routes' | 'log'> = {
  engine,
  admission: OPEN_ADMISSION,
  corsOrigins: [],
  isFull: () => false,
  watcherCount: () => 0,
  page: privatePage(),
  peers: undefined,
  trail: undefined,
  accessLog: undefined,
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Record<string, string>
  readonly body: Buffer
}

export class Client {
  readonly socket: Socket
  /** Codes of socket errors. */
  readonly errors: string[] = []
  closed = false
  /** Joined only when something is looked for in them. */
  #pieces: Buffer[] = []
  #pieceBytes = 0
  #changed: () => void = () => {}

  /** @param server  a port of this machine, or a connection */
  constructor(server: number | Socket) {
    this.socket = typeof server === 'number' ? connect(server, '127.0.0.1') : server
    this.socket.on('data', (data) => {
      this.#pieces.push(data)
      this.#pieceBytes += data.length
      this.#changed()
    })
    this.socket.on('error', (error: NodeJS.ErrnoException) => this.errors.push(error.code ?? '?'))
    this.socket.on('close', () => {
      this.closed = true
      this.#changed()
    })
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text)
  }

  /** Reads one whole answer. */
  async answer(options: { headersOnly?: boolean } = {}): Promise<Answer> {
    const head = (await this.readUntil('\r\n\r\n')).toString('latin1')
    const [statusLine, ...lines] = head.trimEnd().split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    )
    const isChunked = !options.headersOnly && headers['transfer-encoding'] === 'chunked'
    const byteCount = options.headersOnly ? 0 : Number(headers['content-length'] ?? 0)
    const body = isChunked ? await this.#readChunks() : await this.read(byteCount)
    return { status: Number(statusLine.split(' ')[1]), headers, body }
  }

  async #readChunks(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for (;;) {
      const byteCount = Number.parseInt((await this.readUntil('\r\n')).toString(), 16)
      chunks.push(await this.read(byteCount))
      await this.read(2)
      if (byteCount === 0) return Buffer.concat(chunks)
    }
  }

  async readUntil(text: string): Promise<Buffer> {
    while (this.#joined().indexOf(text) < 0) await this.#more(`before ${JSON.stringify(text)}`)
    return this.read(this.#joined().indexOf(text) + text.length)
  }

  async read(byteCount: number): Promise<Buffer> {
    while (this.#pieceBytes < byteCount) await this.#more(`before ${byteCount} bytes`)
    const joined = this.#joined()
    this.#pieces = [joined.subarray(byteCount)]
    this.#pieceBytes -= byteCount
    return joined.subarray(0, byteCount)
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.#change()
  }

  async #more(what: string): Promise<void> {
    if (this.closed) throw new Error(`closed ${what}, after ${this.#joined().toString('latin1')}`)
    await this.#change()
  }

  #joined(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0]
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve
    })
  }
}

/** One request on a connection of its own, to a port of this machine or over a connection that is there. */
export async function request(
  server: number | Socket,
  line: string,
  options: { headers?: string[]; body?: string | Uint8Array } = {},
): Promise<Answer> {
  const client = new Client(server)
  client.write(requestText(line, options))
  if (options.body !== undefined) client.write(options.body)
  const answer = await client.answer({ headersOnly: line.startsWith('HEAD ') })
  client.socket.destroy()
  return answer
}

/** @param line  verb and path */
export function requestText(
  line: string,
  options: { headers?: string[]; body?: string | Uint8Array } = {},
): string {
  const headers = ['Host: test', ...(options.headers ?? [])]
  if (options.body !== undefined) headers.push(`Content-Length: ${Buffer.byteLength(options.body)}`)
  return `${line} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`
}

function recordingLog(
  faults: Record<string, unknown>[],
  ends: Record<string, unknown>[],
  cuts: Record<string, unknown>[],
): Log {
  const log = createLog('silent')
  log.isLevelEnabled = () => true
  log.debug = (fields: unknown) => void ends.push(fields as Record<string, unknown>)
  log.warn = (fields: unknown, message?: unknown) => {
    cuts.push({ ...(fields as Record<string, unknown>), message })
  }
  log.error = (fields: unknown, message?: unknown) => {
    faults.push({ ...(fields as Record<string, unknown>), message })
  }
  return log
}
