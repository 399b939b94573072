/**
 * Listens in the main thread and hands every new connection to one of the front threads, in turn.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { ServiceError } from '../errors.js'
import { errorBody } from '../format/error-body.js'
import { formats } from '../format/formats.js'
import { retryAfterSeconds } from './fault.js'
import { cannotListen } from './listen-fault.js'
import {
  type AppDescriptor,
  createApp,
  listenOn,
  listenOnPath,
  type NativeResponse,
  statusLine,
  stopListeningOn,
} from './uws.js'

export interface Acceptor {
  /** The port that is listened on; the one the system chose when 0 was asked for. */
  readonly port: number
  /** Gives new connections to this front as well, from now on. */
  addFront(descriptor: AppDescriptor): void
  /** Gives this front no more new connections; those it has, it keeps. */
  removeFront(descriptor: AppDescriptor): void
  /** Refuses new connections, once those that wait to be taken have been handed to the fronts. */
  stopListening(): Promise<void>
  /** Ends the acceptor; does nothing to connections that fronts hold. */
  close(): void
}

interface AcceptorOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** False lets a second process share the port, as a rolling restart does. Default true. */
  readonly exclusive?: boolean
}

export async function listen(options: AcceptorOptions): Promise<Acceptor> {
  const { host, port, exclusive = true } = options
  const app = createApp()
  // Reached only while there is no front.
  app.any('/*', refuse)
  const listening = listenOn(app, { host, port, exclusive })
  if (listening === undefined) throw await cannotListen(host, port)
  let open = true
  let closed = false
  const refuseNew = () => {
    if (open) stopListeningOn(listening.socket)
    open = false
  }
  return {
    port: listening.port,
    addFront: (descriptor) => void app.addChildAppDescriptor(descriptor),
    removeFront: (descriptor) => void app.removeChildAppDescriptor(descriptor),
    async stopListening() {
      await afterNextPoll()
      refuseNew()
    },
    close() {
      if (closed) return
      closed = true
      refuseNew()
      app.close()
    },
  }
}

export interface StartingServer {
  close(): void
}

/**
 * Answers every request that the service is starting.
 *
 * @param path  of a socket of the file system
 */
export function answerStarting(path: string): StartingServer {
  const app = createApp()
  app.any('/*', refuse)
  if (listenOnPath(app, path) === undefined) throw new Error('the socket cannot be listened on')
  let closed = false
  return {
    close() {
      if (!closed) app.close()
      closed = true
    },
  }
}

/**
 * Resolves right after everything that had arrived was read and all connections that waited were
 * taken, so that closing a socket then loses as little as possible.
 */
export async function afterNextPoll(): Promise<void> {
  // The first one may be due in this turn of the loop, whose poll is over.
  await setImmediate()
  await setImmediate()
}

function refuse(response: NativeResponse): void {
  response.onAborted(() => {})
  const error = new ServiceError('NotReady', 'the service is starting')
  response
    .writeStatus(statusLine(error.status))
    .writeHeader('Content-Type', formats.json.contentType)
    .writeHeader('Retry-After', retryAfterSeconds())
    .end(errorBody(error, 'json'), true)
}
