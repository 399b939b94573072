/**
 * uWebSockets.js as an engine, with the members that its types leave out.
 *
 * @module
 */
import type {
  TemplatedApp,
  us_listen_socket,
  us_socket,
  us_socket_context_t,
  WebSocket,
} from 'uWebSockets.js'
import * as native from 'uWebSockets.js'
import { limits } from '../../limits.js'
import type {
  AppDescriptor,
  AppHandlers,
  Engine,
  EngineRequest,
  EngineResponse,
  EngineSocket,
  ListenAddress,
  SocketHandlers,
} from './engine.js'

interface NativeApp extends Omit<TemplatedApp, 'listen' | 'any' | 'filter' | 'ws'> {
  any(pattern: string, handler: (response: EngineResponse, request: EngineRequest) => void): void
  filter(handler: (response: EngineResponse, change: 1 | -1) => void): void
  ws(pattern: string, behavior: SocketBehavior): void
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: us_listen_socket | false) => void,
  ): NativeApp
  getDescriptor(): AppDescriptor
  addChildAppDescriptor(descriptor: AppDescriptor): NativeApp
  removeChildAppDescriptor(descriptor: AppDescriptor): NativeApp
}

interface SocketBehavior {
  readonly compression: number
  readonly idleTimeout: number
  readonly maxBackpressure: number
  readonly maxPayloadLength: number
  readonly sendPingsAutomatically: boolean
  upgrade(
    response: UpgradableResponse,
    request: EngineRequest & { getHeader(name: string): string },
    context: us_socket_context_t,
  ): void
  open(socket: WebSocket<Opening>): void
  drain(socket: WebSocket<Opening>): void
  pong(socket: WebSocket<Opening>): void
  message(socket: WebSocket<Opening>): void
  close(socket: WebSocket<Opening>): void
}

interface UpgradableResponse extends EngineResponse {
  upgrade(
    opening: Opening,
    key: string,
    protocol: string,
    extensions: string,
    context: us_socket_context_t,
  ): void
}

/** What the library keeps with a socket. */
interface Opening extends SocketHandlers {
  opened(socket: WebSocket<Opening>): void
}

const extended = native as unknown as {
  App(): NativeApp
  LIBUS_LISTEN_EXCLUSIVE_PORT: number
  _cfg(option: 'silent'): void
}

// Without this, answers name the server and its version.
extended._cfg('silent')

/** Its parser of chunks takes more for a size than it may, and shows neither sizes nor trailers. */
export const addon: Engine = {
  name: 'uws',
  readsChunksExactly: false,
  createApp({ request, connection }) {
    const app = extended.App()
    if (connection !== undefined) app.filter(connection)
    app.any('/*', request)
    takeSockets(app, request, () => connection?.(NOBODY, -1))
    let socket: us_listen_socket | undefined
    const stopListening = () => {
      if (socket !== undefined) native.us_listen_socket_close(socket)
      socket = undefined
    }
    return {
      async listen(address) {
        socket = listenOn(app, address)
        return socket && native.us_socket_local_port(socket as us_socket)
      },
      async listenOnPath(path) {
        // The callback runs before `listen_unix` returns.
        app.listen_unix((listening: us_listen_socket | false) => {
          if (listening !== false) socket = listening
        }, path)
        return socket !== undefined
      },
      stopListening,
      close() {
        stopListening()
        app.close()
      },
      handOver: {
        get descriptor() {
          return app.getDescriptor()
        },
        add: (descriptor) => void app.addChildAppDescriptor(descriptor),
        remove: (descriptor) => void app.removeChildAppDescriptor(descriptor),
      },
    }
  },
  hasContinued: (expected) => expected === '100-continue',
  continueBody(response) {
    response.writeStatus('100 Continue\r\n')
    // It takes one status line alone, so that of the answer goes in front of the first header.
    let statusLine = 'HTTP/1.1 200 OK'
    response.writeStatus = (line) => {
      statusLine = `HTTP/1.1 ${line}`
    }
    const native: Pick<EngineResponse, 'writeHeader'> = Object.getPrototypeOf(response)
    response.writeHeader = (name, value) => {
      response.writeHeader = native.writeHeader
      response.writeHeader(`${statusLine}\r\n${name}`, value)
    }
  },
}

function listenOn(
  app: NativeApp,
  { host, port, isShared }: ListenAddress,
): us_listen_socket | undefined {
  const options = isShared ? 0 : extended.LIBUS_LISTEN_EXCLUSIVE_PORT
  let listening: us_listen_socket | undefined
  // The callback runs before `listen` returns.
  app.listen(host, port, options, (socket) => {
    if (socket !== false) listening = socket
  })
  return listening
}

/** The library sends whoever has a key of the right length here, with GET; all others go on to the next route. */
function takeSockets(app: NativeApp, receive: AppHandlers['request'], gone: () => void): void {
  app.ws('/*', {
    compression: NO_COMPRESSION,
    // Who sends and what takes too long is decided elsewhere.
    idleTimeout: 0,
    sendPingsAutomatically: false,
    maxPayloadLength: limits.socketMessageBytes,
    // Answers to pings beyond it are dropped. A message is sent only when nothing waits.
    maxBackpressure: limits.socketPongBytes,
    upgrade(response, request, context) {
      const key = request.getHeader('sec-websocket-key')
      response.toSocket = (headers, handlers) => {
        let socket: EngineSocket | undefined
        const opened = (native: WebSocket<Opening>) => {
          socket = engineSocket(native)
        }
        response.cork(() => {
          response.writeStatus('101 Switching Protocols')
          for (const [name, value] of Object.entries(headers)) response.writeHeader(name, value)
          response.upgrade({ ...handlers, opened }, key, '', '', context)
        })
        if (socket === undefined) throw new Error('the library has opened no socket')
        return socket
      }
      receive(response, request)
    },
    open: (socket) => socket.getUserData().opened(socket),
    drain: (socket) => socket.getUserData().drained(),
    pong: (socket) => socket.getUserData().ponged(),
    message: (socket) => socket.getUserData().received(),
    close(socket) {
      socket.getUserData().closed()
      // The filter hears nothing more of a connection that has become a WebSocket.
      gone()
    },
  })
}

const NO_COMPRESSION = 0
const NOBODY = { close() {} }

function engineSocket(socket: WebSocket<Opening>): EngineSocket {
  return {
    send: (message) => void socket.send(message, false),
    ping: () => void socket.ping(),
    bufferedBytes: () => socket.getBufferedAmount(),
    end: (code, reason) => socket.end(code, reason),
    close: () => socket.close(),
  }
}
