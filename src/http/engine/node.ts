/**
 * `node:http` as an engine: for releases of Node.js that the addon has no binary for. It parses strictly
 * (llhttp), chunks included.
 *
 * @module
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { limits } from '../../limits.js'
import type { AppHandlers, Engine } from './engine.js'
import { NodeRequest, NodeResponse } from './node-exchange.js'

export const nodeHttp: Engine = {
  name: 'node',
  readsChunksExactly: true,
  createApp(handlers) {
    const conversations = new Conversations(handlers)
    const servers: Server[] = []
    const sockets = new Set<Socket>()
    const open = (begin: Begin) => {
      const server = createHttpServer(conversations)
      servers.push(server)
      const [serve] = server.listeners('connection')
      server.off('connection', serve as (socket: Socket) => void)
      server.on('connection', (socket: Socket) => {
        sockets.add(socket)
        // The library listens for them, but not before the first request and not behind a CONNECT.
        socket.on('error', () => {})
        socket.once('close', () => {
          sockets.delete(socket)
          handlers.connection?.(GONE, -1)
        })
        handlers.connection?.({ close: () => socket.destroy() }, 1)
        begin(socket, () => serve.call(server, socket))
      })
      return server
    }
    // `close` of node:http closes connections that have no request at the moment. Their clients are to learn
    // it from an answer.
    const stopListening = () => {
      for (const server of servers) {
        if (server.listening) NetServer.prototype.close.call(server)
      }
    }
    return {
      async listen({ host, port, isShared }) {
        const server = open((_, serve) => serve())
        const address = { host, port, exclusive: true, reusePort: isShared }
        const isListening = await listening(server, () => server.listen(address))
        return isListening ? (server.address() as AddressInfo).port : undefined
      },
      async listenOnPath(path) {
        const server = open((socket, serve) => {
          takeProxyPrefix(socket, (source) => {
            conversations.setProxied(socket, source)
            serve()
          })
        })
        return await listening(server, () => server.listen(path))
      },
      stopListening,
      close() {
        stopListening()
        // Ends the timers of the library, too.
        for (const server of servers) server.close()
        for (const socket of sockets) conversations.breakOff(socket)
      },
      handOver: undefined,
    }
  },
  hasContinued: () => false,
  continueBody: (response) => (response as NodeResponse).writeContinue(),
}

/** Decides when a connection is served. */
type Begin = (socket: Socket, serve: () => void) => void

function createHttpServer(conversations: Conversations): Server {
  const server = createServer({
    connectionsCheckingInterval: CHECK_MS,
    headersTimeout: limits.idleMs,
    keepAliveTimeout: limits.idleMs,
    maxHeaderSize: limits.headerBytes,
    // The service has a clock of its own for each body.
    requestTimeout: 0,
  })
  // The bytes of all headers are bounded; a bound on their number would drop some silently.
  server.maxHeadersCount = 0
  // The service itself decides about expectations.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => conversations.take(request, response))
  }
  server.on('connect', (_, socket) => refuse(socket as Socket, 405))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuse(socket as Socket, statusOf(error))
  })
  return server
}

/** How often connections are looked for that wait too long for the headers of a request. */
const CHECK_MS = 1_000

const GONE = { close() {} }

function listening(server: Server, begin: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    const settled = (isListening: boolean) => () => {
      server.off('listening', listens)
      server.off('error', fails)
      resolve(isListening)
    }
    const listens = settled(true)
    const fails = settled(false)
    server.once('listening', listens)
    server.once('error', fails)
    begin()
  })
}

/** One request of a connection after the other. */
class Conversations {
  readonly #handlers: AppHandlers
  readonly #bySocket = new WeakMap<Socket, Conversation>()

  constructor(handlers: AppHandlers) {
    this.#handlers = handlers
  }

  setProxied(socket: Socket, source: ArrayBuffer): void {
    this.#of(socket).proxied = source
  }

  /** Closes the connection, and tells the handler of its request at once. */
  breakOff(socket: Socket): void {
    this.#of(socket).current?.close()
    socket.destroy()
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (request.httpVersion !== '1.1') {
      refuse(socket, 505)
      return
    }
    const conversation = this.#of(socket)
    const begin = () => this.#begin(conversation, { request, response })
    if (!conversation.isBusy) begin()
    // The service answers one request of a connection at a time, however many the client sends ahead.
    else if (conversation.waiting.push(begin) > limits.pipelinedRequestCount) socket.destroy()
  }

  #of(socket: Socket): Conversation {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known
    const conversation: Conversation = {
      isBusy: false,
      current: undefined,
      waiting: [],
      proxied: undefined,
    }
    this.#bySocket.set(socket, conversation)
    return conversation
  }

  #begin(
    conversation: Conversation,
    asked: Omit<ConstructorParameters<typeof NodeResponse>[0], 'proxied' | 'over'>,
  ): void {
    conversation.isBusy = true
    const own = new NodeResponse({
      ...asked,
      proxied: conversation.proxied,
      over(ending) {
        conversation.current = undefined
        // Requests behind one that ends its connection are not carried out.
        if (ending === 'closes') conversation.waiting.length = 0
        else conversation.isBusy = false
        conversation.waiting.shift()?.()
      },
    })
    conversation.current = own
    this.#handlers.request(own, new NodeRequest(asked.request))
  }
}

interface Conversation {
  /** Stays so where no further request is taken. */
  isBusy: boolean
  /** The answer that is not over. */
  current: NodeResponse | undefined
  readonly waiting: (() => void)[]
  proxied: ArrayBuffer | undefined
}

/** What is wrong with bytes that are no request. */
function statusOf({ code }: NodeJS.ErrnoException): number | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code?.startsWith('HPE_') ? 400 : undefined
}

/**
 * Ends a connection that cannot go on, with an answer if that would not stand in the midst of another one.
 *
 * @param status  undefined for none
 */
function refuse(socket: Socket & { _httpMessage?: ServerResponse }, status: number | undefined) {
  const { _httpMessage: begun } = socket
  if (status === undefined || !socket.writable || begun?.headersSent) {
    socket.destroy()
    return
  }
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`
  socket.end(`${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}

/**
 * Takes a header of the PROXY protocol, version 2, from the front of a connection, as uWebSockets.js does by itself
 * (HAProxy: The PROXY protocol, 2.2). Calls back when the header has been taken, or when it is certain that there is none; never for a
 * connection that ends before. All that follows it is still to be read.
 *
 * @param taken  gets the source address, binary; empty where there is no header
 */
function takeProxyPrefix(socket: Socket, taken: (source: ArrayBuffer) => void): void {
  let held = Buffer.alloc(0)
  const look = () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) {
      held = Buffer.concat([held, piece])
    }
    const source = sourceOf(held)
    if (source === undefined) return
    socket.off('readable', look)
    const [address, headerBytes] = source
    if (held.length > headerBytes) socket.unshift(held.subarray(headerBytes))
    taken(address)
  }
  socket.on('readable', look)
}

/** @returns undefined while that is not certain */
function sourceOf(bytes: Buffer): [address: ArrayBuffer, headerBytes: number] | undefined {
  const known = Math.min(bytes.length, SIGNATURE.length)
  if (!bytes.subarray(0, known).equals(SIGNATURE.subarray(0, known))) return [NO_ADDRESS, 0]
  if (bytes.length < PREFIX_BYTES) return undefined
  const headerBytes = PREFIX_BYTES + bytes.readUInt16BE(14)
  if (bytes.length < headerBytes) return undefined
  const addressBytes = bytes[13] >> 4 === INET6 ? 16 : 4
  const end = Math.min(PREFIX_BYTES + addressBytes, headerBytes)
  return [Uint8Array.from(bytes.subarray(PREFIX_BYTES, end)).buffer, headerBytes]
}

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
/** Signature, version and command, family, length of what follows. */
const PREFIX_BYTES = 16
const INET6 = 2
const NO_ADDRESS = new ArrayBuffer(0)
