/**
 * One TLS connection and the connection to the front thread that answers it. Bytes go both ways, no faster
 * than either side takes them.
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { limits } from '../limits.js'

interface RelayOptions {
  /** Where the front thread listens. */
  readonly socketPath: string
  /** What the front is to read first. */
  readonly header: Uint8Array
  /** Called once, when nothing of the connection is left. */
  readonly whenOver: () => void
  /** Called when the front cannot be reached, before `whenOver`. */
  readonly whenUnreachable: (code: string | undefined) => void
}

/** Joins a client to a front thread until both have gone. */
export function relay(
  client: TLSSocket,
  { socketPath, header, whenOver, whenUnreachable }: RelayOptions,
): void {
  const startedMs = performance.now()
  let openCount = 1
  const closed = () => {
    if (--openCount === 0) whenOver()
  }
  client.on('close', closed)
  // What follows is `close`.
  client.on('error', () => {})
  attempt()

  function attempt(): void {
    if (client.destroyed) return
    const front = connect(socketPath)
    const retry = (error: NodeJS.ErrnoException) => {
      if (client.destroyed) return
      // The queue of the front is full, which for a socket of the file system is an error.
      if (error.code === 'EAGAIN' && performance.now() - startedMs < limits.tlsConnectMs) {
        setTimeout(attempt, CONNECT_RETRY_MS)
        return
      }
      whenUnreachable(error.code)
      client.destroy()
    }
    front.once('error', retry)
    front.once('connect', () => {
      front.off('error', retry)
      front.on('error', () => {})
      if (client.destroyed) {
        front.destroy()
        return
      }
      openCount++
      front.on('close', closed)
      front.write(header)
      join(client, front)
    })
  }
}

const CONNECT_RETRY_MS = 10

function join(client: TLSSocket, front: Socket): void {
  let isEnding = false
  /** The front says no more: the client gets what is left, and what it sends is dropped. */
  const endClient = () => {
    if (isEnding || client.destroyed) return
    isEnding = true
    client.off('data', toFront)
    client.end()
    client.resume()
    const lingering = setTimeout(() => client.destroy(), limits.clientStallMs)
    client.once('close', () => clearTimeout(lingering))
  }
  const toFront = (bytes: Uint8Array) => {
    if (!front.write(bytes)) client.pause()
  }
  const toClient = (bytes: Uint8Array) => {
    if (!client.write(bytes)) front.pause()
  }
  front.on('data', toClient)
  front.on('drain', () => client.resume())
  front.on('end', endClient)
  front.on('close', endClient)
  client.on('data', toFront)
  client.on('drain', () => front.resume())
  client.on('end', () => {
    // A front takes the end of a connection for that of the request, as it does without TLS.
    front.off('data', toClient)
    front.resume()
    front.end()
  })
  client.on('close', () => front.destroy())
}
