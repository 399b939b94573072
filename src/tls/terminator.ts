/**
 * The TLS thread. It accepts connections, shakes hands, looks at client certificates, and hands what was
 * decrypted to the front threads.
 *
 * @module
 */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { MessagePort } from 'node:worker_threads'
import { limits } from '../limits.js'
import { createLog, describeFault, type Log } from '../log.js'
import { callsOver } from '../threads/calls.js'
import type { StarterCalls } from '../threads/thread.js'
import { addressBytes } from './address-bytes.js'
import { contextOptions } from './credentials.js'
import { FaultLog } from './fault-log.js'
import type { TlsBounds, TlsCalls, TlsThreadData } from './messages.js'
import { PeerWriter, proxyHeader } from './peers.js'
import { relay } from './relay.js'

/** @param main  to the main thread; closed when the thread has ended its connections */
export function runTerminator(main: MessagePort, data: TlsThreadData): void {
  const log = createLog(data.logLevel, { thread: 'tls' })
  const own: Partial<TlsCalls> = {}
  const starter = callsOver<StarterCalls>(main, own)
  process.on('uncaughtException', (error) => {
    log.fatal(describeFault(error), 'the TLS thread failed')
    // Connections go on until the main thread ends them.
    starter.tell.threadFailed(error.name)
  })
  const terminator = new Terminator(data, log)
  const { server } = terminator
  const calls: TlsCalls = {
    listen: () => listen(server, data, log),
    forward(socketPaths) {
      terminator.socketPaths = socketPaths
    },
    show: (credentials) => server.setSecureContext(contextOptions(credentials)),
    stopListening: () => terminator.stopListening(),
    async stop(waitMs) {
      await terminator.end(waitMs)
      main.close()
    },
  }
  Object.assign(own, calls)
}

async function listen(server: Server, data: TlsThreadData, log: Log): Promise<number | undefined> {
  const { host, port, sharesPort: reusePort } = data
  server.listen({ host, port, exclusive: true, reusePort, backlog: LISTEN_BACKLOG })
  try {
    await once(server, 'listening')
  } catch {
    return undefined
  }
  // Such as too many open files: the next attempt may succeed.
  server.on('error', (error) => log.error(describeFault(error), 'a connection was not accepted'))
  return (server.address() as AddressInfo).port
}

/** As many as the HTTP library lets wait. */
const LISTEN_BACKLOG = 512

class Terminator {
  readonly server: Server
  socketPaths: readonly string[]
  readonly #peers: PeerWriter
  readonly #faults: FaultLog
  readonly #asksForCertificates: boolean
  readonly #bounds: TlsBounds
  /** Connections whose handshake is not over, by address and port, the oldest first. */
  readonly #shaking = new Map<string, Socket>()
  readonly #joined = new Set<TLSSocket>()
  #turn = 0
  #isOpen = true

  constructor(data: TlsThreadData, log: Log) {
    const { credentials, clientCertificates, peers, socketPaths } = data
    this.socketPaths = socketPaths
    this.#bounds = { ...limits, ...data.bounds }
    this.#peers = new PeerWriter(peers)
    this.#faults = new FaultLog(log)
    this.#asksForCertificates = clientCertificates !== 'off'
    this.server = createServer({
      ...contextOptions(credentials),
      requestCert: this.#asksForCertificates,
      rejectUnauthorized: clientCertificates === 'required',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: this.#bounds.tlsHandshakeMs,
      noDelay: true,
      highWaterMark: limits.tlsBufferBytes,
    })
    this.server.maxConnections = this.#bounds.tlsConnectionCount
    this.server.on('connection', (socket) => this.#shakeHands(socket))
    this.server.on('secureConnection', (client) => this.#join(client))
    this.server.on('tlsClientError', (error: NodeJS.ErrnoException, client) => {
      // Where a certificate is required, a wrong one is only told of by this.
      const reason = client.authorizationError ?? error.code ?? error.name
      this.#faults.note(String(reason), client.remoteAddress)
      // A handshake that took too long is not ended otherwise.
      client.destroy()
    })
  }

  /** Resolves when the handshakes that were begun are over, or have taken too long. */
  async stopListening(): Promise<void> {
    this.#isOpen = false
    // What waits to be taken is taken in the polls between these turns.
    await setImmediate()
    await setImmediate()
    this.server.close()
    const deadlineMs = performance.now() + limits.tlsDrainHandshakeMs
    while (this.#shaking.size > 0 && performance.now() < deadlineMs) await sleep(DRAIN_POLL_MS)
    for (const socket of this.#shaking.values()) socket.destroy()
  }

  /** Lets clients take what the fronts have left for them. */
  async end(waitMs: number): Promise<void> {
    this.#isOpen = false
    this.server.close()
    const deadlineMs = performance.now() + waitMs
    while (this.#joined.size > 0 && performance.now() < deadlineMs) await sleep(DRAIN_POLL_MS)
    for (const socket of this.#shaking.values()) socket.destroy()
    for (const client of this.#joined) client.destroy()
    this.#faults.write()
  }

  /**
   * Bounds the handshakes that are under way. The oldest one makes room: a client takes a few round trips,
   * and one that stops half-way is the oldest sooner or later.
   */
  #shakeHands(socket: Socket): void {
    const name = nameOf(socket)
    this.#shaking.set(name, socket)
    socket.once('close', () => this.#shaking.delete(name))
    if (this.#shaking.size <= this.#bounds.tlsHandshakeCount) return
    const [oldest] = this.#shaking.values()
    oldest.destroy()
  }

  #join(client: TLSSocket): void {
    this.#shaking.delete(nameOf(client))
    client.on('error', () => {})
    const address = addressBytes(client.remoteAddress ?? '')
    const certificate = this.#asksForCertificates ? client.getPeerX509Certificate() : undefined
    // The handshake of a client without a certificate is not `authorized` either.
    if (certificate !== undefined && !client.authorized) {
      this.#faults.note(String(client.authorizationError), client.remoteAddress)
      client.destroy()
      return
    }
    const handle =
      address && this.#peers.add(address, certificate && fingerprintOf(certificate.fingerprint256))
    if (handle === undefined) {
      client.destroy()
      return
    }
    this.#joined.add(client)
    const socketPath = this.socketPaths[this.#turn++ % this.socketPaths.length]
    relay(client, {
      socketPath,
      header: proxyHeader(handle),
      whenOver: () => {
        this.#joined.delete(client)
        this.#peers.remove(handle)
      },
      whenUnreachable: (code) => {
        this.#faults.note(`FRONT_${code}`, client.remoteAddress)
        // Without its socket a front gets nothing more, so that the service must start anew. Too many open
        // files, or a front that is too busy, cost this connection alone.
        const isGone = code === 'ENOENT' || code === 'ECONNREFUSED'
        if (isGone && this.#isOpen) throw new Error(`a front thread cannot be reached (${code})`)
      },
    })
  }
}

const DRAIN_POLL_MS = 20

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}|${remotePort}`
}

/** @param text  pairs of hexadecimal digits with colons between */
function fingerprintOf(text: string): Uint8Array {
  return Buffer.from(text.replaceAll(':', ''), 'hex')
}
