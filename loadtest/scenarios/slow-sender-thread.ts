/**
 * Connections that never finish a request: half of them send their head byte by byte, the others
 * their body. Those that the service closes are made again.
 *
 * @module
 */
import { connect, type Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

export interface SenderData {
  readonly url: string
  readonly connectionCount: number
}

const { url, connectionCount } = workerData as SenderData
const { hostname, port } = new URL(url)
const HEAD = 'POST /api/recipients HTTP/1.1\r\nHost: slow\r\nContent-Type: application/json\r\n'
const BYTE_MS = 1_000

const sockets = Array.from({ length: connectionCount }, (_, at) => open(at))
// Spread over the second, as they would be.
for (let at = 0; at < connectionCount; at++) {
  setTimeout(() => setInterval(() => trickle(at), BYTE_MS), (BYTE_MS * at) / connectionCount)
}

function open(at: number): Socket {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  socket.on('error', () => {})
  // What is answered is of no interest, but has to be read to see the end.
  socket.resume()
  socket.write(at % 2 === 0 ? `${HEAD}X-Slow: ` : `${HEAD}Content-Length: 100000\r\n\r\n{`)
  return socket
}

function trickle(at: number): void {
  if (sockets[at].destroyed || !sockets[at].writable) sockets[at] = open(at)
  else sockets[at].write(' ')
}
