/**
 * uWebSockets.js as an engine, with the members that its types leave out.
 *
 * @module
 */
import type { TemplatedApp, us_listen_socket, us_socket } from 'uWebSockets.js'
import * as native from 'uWebSockets.js'
import type {
  AppDescriptor,
  Engine,
  EngineRequest,
  EngineResponse,
  ListenAddress,
} from './engine.js'

interface NativeApp extends Omit<TemplatedApp, 'listen' | 'any' | 'filter'> {
  any(pattern: string, handler: (response: EngineResponse, request: EngineRequest) => void): void
  filter(handler: (response: EngineResponse, change: 1 | -1) => void): void
  listen(
    host: string,
    port: number,
    options: number,
    callback: (socket: us_listen_socket | false) => void,
  ): NativeApp
  getDescriptor(): AppDescriptor
  addChildAppDescriptor(descriptor: AppDescriptor): NativeApp
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
