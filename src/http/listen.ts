/**
 * Listening: in the main thread, which hands every new connection to one of the front threads, in turn, and answers
 * while there are none; and why an address cannot be listened on.
 *
 * @module
 */
import { createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { OperatorError, ServiceError } from '../errors.js'
import { errorBody } from '../format/error-body.js'
import { formats } from '../format/formats.js'
import { limits } from '../limits.js'
import { RequestBody } from './body.js'
import type {
  AppDescriptor,
  AppHandlers,
  Engine,
  EngineRequest,
  EngineResponse,
  ListenAddress,
} from './engine/engine.js'
import { retryAfterSeconds } from './fault.js'
import { statusLine } from './head-block.js'
import { mayWait } from './request.js'

export interface Acceptor {
  /** The port that is listened on; the one the system chose when 0 was asked for. */
  readonly port: number
  /** Gives new connections to this front as well, from now on; not with every engine. */
  addFront(descriptor: AppDescriptor | undefined): void
  /** Refuses new connections, once those that wait to be taken have been handed to the fronts. */
  stopListening(): Promise<void>
  /** Ends the acceptor; does nothing to connections that fronts hold. */
  close(): void
}

/** Listens, and answers every request that the service is starting while there is no front. */
export async function listen(engine: Engine, address: ListenAddress): Promise<Acceptor> {
  const app = engine.createApp({ request: refusing(engine) })
  const port = await app.listen(address)
  if (port === undefined) throw await cannotListen(address.host, address.port)
  const { handOver } = app
  let closed = false
  return {
    port,
    addFront: (descriptor) => descriptor !== undefined && handOver?.add(descriptor),
    async stopListening() {
      await afterNextPoll()
      app.stopListening()
    },
    close() {
      if (closed) return
      closed = true
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
export async function answerStarting(engine: Engine, path: string): Promise<StartingServer> {
  const app = engine.createApp({ request: refusing(engine) })
  if (!(await app.listenOnPath(path))) throw new Error('the socket cannot be listened on')
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

function refusing(engine: Engine): AppHandlers['request'] {
  return (response, request) => refuse(engine, response, request)
}

/** Behind the body: an answer that closes before that is read may not reach its client. */
function refuse(engine: Engine, response: EngineResponse, request: EngineRequest): void {
  const error = new ServiceError('NotReady', 'the service is starting')
  const answer = () =>
    response.cork(() => {
      response.writeStatus(statusLine(error.status))
      response.writeHeader('Content-Type', formats.json.contentType)
      response.writeHeader('Retry-After', retryAfterSeconds())
      response.end(errorBody(error, 'json'), true)
    })
  const declaredBytes = awaitedBytesOf(engine, request)
  if (declaredBytes === 0 || awaitedCount >= limits.startingBodyCount) {
    response.onAborted(() => {})
    answer()
    return
  }
  awaitedCount++
  let isAwaited = true
  const over = () => {
    if (isAwaited) awaitedCount--
    isAwaited = false
  }
  const refused = () => {
    over()
    answer()
  }
  const body = new RequestBody(response, declaredBytes, NO_BUDGET, {
    taken() {},
    spoilt() {},
    refused,
  })
  response.onAborted(() => {
    over()
    body.cancel()
  })
  body.discard(error)
}

/** Bodies that this thread waits for. */
let awaitedCount = 0

/** Every byte of a body is dropped. */
const NO_BUDGET = { heldBytes: 0, maxBytes: 0, waitMs: limits.bodyMs }

/** Undefined for a body in chunks; 0 also for a length that is no number, and where the client waits for us. */
function awaitedBytesOf(engine: Engine, request: EngineRequest): number | undefined {
  let declaredBytes: number | undefined = 0
  let waits = false
  request.forEach((name, value) => {
    if (name === 'expect') waits = mayWait(value) && !engine.hasContinued(value)
    else if (name === 'transfer-encoding') declaredBytes = undefined
    else if (name === 'content-length' && declaredBytes !== undefined) {
      declaredBytes = Number(value) || 0
    }
  })
  return waits ? 0 : declaredBytes
}

/**
 * Why an address cannot be listened on. The HTTP library only says that it cannot, so it is tried once more in a way
 * that tells.
 *
 * @param code  of the system, where it is known
 */
export async function cannotListen(
  host: string,
  port: number,
  code?: string,
): Promise<OperatorError> {
  const reason = reasonOf(host, port, code ?? (await codeOfListening(host, port)))
  return new OperatorError('AddressInUse', `cannot listen on ${host}:${port}: ${reason}`)
}

/**
 * Finds out whether another process listens there.
 *
 * @throws OperatorError
 */
export async function refuseUsedPort(host: string, port: number): Promise<void> {
  const code = port === 0 ? undefined : await codeOfListening(host, port)
  if (code !== undefined) throw await cannotListen(host, port, code)
}

function reasonOf(host: string, port: number, code: string | undefined): string {
  switch (code) {
    case 'EADDRNOTAVAIL':
      return (
        `${host} is not an address of this machine. Choose another --host: 127.0.0.1 for this machine ` +
        'alone, 0.0.0.0 for all that reach it'
      )
    case 'EACCES':
      return (
        `port ${port} needs privileges, which this user does not have. Choose a --port from 1024 on, or ` +
        'allow it with CAP_NET_BIND_SERVICE'
      )
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `there is no host of this name. Choose another --host, such as 127.0.0.1`
    case 'EADDRINUSE':
    case undefined:
      return `another process has port ${port} (\`ss -ltnp\` names it). Stop that, or choose another --port`
    default:
      return `the system refuses it (${code}). Choose another --host and --port`
  }
}

/** What the system says to a process that wants the port for itself; undefined where it can have it. */
function codeOfListening(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
