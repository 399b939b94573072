/**
 * A WebSocket of the package `ws`, with the members of `EngineSocket`.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { limits } from '../../limits.js'
import type { EngineSocket, SocketHandlers } from './engine.js'

/** A key that the library would refuse with an answer of its own (RFC 6455, 4.1). */
export function hasSocketKey({ headers }: IncomingMessage): boolean {
  const key = headers['sec-websocket-key']
  return headers['sec-websocket-version'] === '13' && key !== undefined && KEY.test(key)
}

const KEY = /^[+/0-9A-Za-z]{22}==$/

/**
 * Shakes hands.
 *
 * @param request  which has a key
 * @param head  what has arrived behind the request
 */
export function nodeSocket(
  request: IncomingMessage,
  head: Buffer,
  headers: Readonly<Record<string, string>>,
  handlers: SocketHandlers,
): EngineSocket {
  let opened: WebSocket | undefined
  headersOf.set(request, headers)
  // The library calls back before it returns.
  sockets.handleUpgrade(request, request.socket, head, (socket) => {
    opened = socket
  })
  if (opened === undefined) throw new Error('the library has opened no socket')
  return engineSocket(opened, request, handlers)
}

const headersOf = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()

const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: limits.socketMessageBytes,
})
sockets.on('headers', (lines, request) => {
  for (const pair of Object.entries(headersOf.get(request) ?? {})) lines.push(pair.join(': '))
})

function engineSocket(
  socket: WebSocket,
  { socket: connection }: IncomingMessage,
  handlers: SocketHandlers,
): EngineSocket {
  let isClosed = false
  const closed = () => {
    if (isClosed) return
    isClosed = true
    handlers.closed()
  }
  const breakOff = () => {
    socket.terminate()
    closed()
  }
  // What follows is `close`.
  socket.on('error', () => {})
  socket.on('close', closed)
  socket.on('pong', () => {
    if (!isClosed) handlers.ponged()
  })
  socket.on('message', () => {
    if (!isClosed) handlers.received()
  })
  // Each ping is answered. Who never reads the answers would fill the memory.
  socket.on('ping', () => {
    if (connection.writableLength > limits.socketPongBytes + sentBytes) breakOff()
  })
  connection.on('drain', () => {
    if (!isClosed) handlers.drained()
  })
  let sentBytes = 0
  return {
    send(message) {
      sentBytes = message.length
      socket.send(message, { binary: false })
    },
    ping: () => socket.ping(),
    bufferedBytes: () => (connection.writableNeedDrain ? connection.writableLength : 0),
    end(code, reason) {
      socket.close(code, reason)
      closed()
    },
    close: breakOff,
  }
}
