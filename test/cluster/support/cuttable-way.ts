/**
 * A way to a server that can be cut off for a while, as by a network: nothing is closed, and what was sent meanwhile
 * arrives afterwards.
 *
 * @module
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Owner } from '../../support/service/hickory.js'

export interface CuttableWay {
  readonly port: number
  cut(): void
  heal(): void
}

/**
 * Closed with the test.
 *
 * @param sticksAt  nothing more is read of a connection on which this was sent
 */
export async function cuttableWay(t: Owner, port: number, sticksAt?: string): Promise<CuttableWay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    join(near, far)
    join(far, near)
  })
  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    // Its end and its faults end the other one.
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', (bytes) => {
      to.write(bytes)
      if (sticksAt !== undefined && bytes.includes(sticksAt)) from.pause()
    })
    if (isCut) from.pause()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    heal() {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
  }
}
