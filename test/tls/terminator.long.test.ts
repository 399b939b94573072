/**
 * The TLS thread by itself, with a front in small behind it: its bounds, and what becomes of connections.
 *
 * @module
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectPlain, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { readCredentials } from '../../src/tls/credentials.js'
import type { TlsBounds } from '../../src/tls/messages.js'
import { allocatePeers, PeerReader } from '../../src/tls/peers.js'
import { startTlsThread, type TlsThread } from '../../src/tls/start.js'
import { createAuthority } from '../support/service/certificates.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const directory = temporaryDirectory(t)
const authority = createAuthority(directory, 'authority')
const own = authority.issue('own')
const ca = readFileSync(authority.certificate)
const HEADER_BYTES = 52

interface Started {
  readonly thread: TlsThread
  readonly peers: PeerReader
  /** What has come to the front, in order. */
  readonly fronted: Socket[]
  /** Shakes hands. */
  connect(): Promise<TLSSocket>
  /** The sixteen bytes by which the front finds the client of a connection. */
  handleOf(socket: Socket): Promise<ArrayBuffer>
}

let count = 0

/** @param answer  what the front does with each connection */
async function start(
  t: Test,
  bounds: Partial<TlsBounds>,
  answer: (socket: Socket) => void = () => {},
): Promise<Started> {
  const path = join(directory, `front-${count++}`)
  const fronted: Socket[] = []
  const received = new Map<Socket, Buffer>()
  const front = createServer((socket) => {
    fronted.push(socket)
    received.set(socket, Buffer.alloc(0))
    socket.on('data', (bytes) => {
      received.set(socket, Buffer.concat([received.get(socket) ?? Buffer.alloc(0), bytes]))
    })
    socket.on('error', () => {})
    answer(socket)
  }).listen(path)
  await once(front, 'listening')
  const memory = allocatePeers(bounds.tlsConnectionCount)
  const thread = (await startTlsThread({
    host: '127.0.0.1',
    port: 0,
    sharesPort: false,
    credentials: readCredentials({ ...own, clientAuthority: undefined }),
    clientCertificates: 'off',
    peers: memory,
    socketPaths: [path],
    logLevel: 'silent',
    bounds,
  })) as TlsThread
  t.teardown(async () => {
    for (const socket of fronted) socket.destroy()
    front.close()
    await thread.end(0)
  })
  return {
    thread,
    peers: new PeerReader(memory),
    fronted,
    async connect() {
      const socket = connect({ port: thread.port, host: '127.0.0.1', ca })
      await once(socket, 'secureConnect')
      socket.on('error', () => {})
      return socket
    },
    async handleOf(socket) {
      await until(() => (received.get(socket)?.length ?? 0) >= HEADER_BYTES)
      return Uint8Array.from(received.get(socket)?.subarray(16, 32) ?? []).buffer as ArrayBuffer
    },
  }
}

t.test('so many clients are let in, and the next one when one has left', async (t) => {
  const { connect, fronted, peers, handleOf } = await start(t, { tlsConnectionCount: 3 })
  const clients = [await connect(), await connect(), await connect()]
  await until(() => fronted.length === 3)
  await t.rejects(connect(), 'one more is closed')
  t.equal(fronted.length, 3)
  const handle = await handleOf(fronted[0])
  t.match(peers.find(handle), { address: '127.0.0.1', certificate: undefined })
  clients[0].destroy()
  await until(() => peers.find(handle) === undefined)
  clients.push(await connect())
  await until(() => fronted.length === 4)
  t.match(
    peers.find(await handleOf(fronted[3])),
    { address: '127.0.0.1' },
    'its slot is used again',
  )
  t.equal(peers.find(handle), undefined)
})

t.test('so many handshakes are under way; the next one ends the oldest', async (t) => {
  const { thread, connect } = await start(t, { tlsHandshakeCount: 2, tlsHandshakeMs: 60_000 })
  const closed: number[] = []
  const halfWay = async (index: number) => {
    const socket = connectPlain(thread.port, '127.0.0.1').resume()
    socket.on('error', () => {})
    socket.on('close', () => closed.push(index))
    await once(socket, 'connect')
    return socket
  }
  const sockets = [await halfWay(0), await halfWay(1)]
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.same(closed, [], 'at the bound')
  sockets.push(await halfWay(2))
  await until(() => closed.length > 0)
  t.same(closed, [0], 'one past it')
  ;(await connect()).destroy()
  await until(() => closed.length > 1)
  t.same(closed, [0, 1], 'a whole handshake is one, too')
  for (const socket of sockets) socket.destroy()
})

t.test('a handshake that takes too long is closed', async (t) => {
  const { thread, connect } = await start(t, { tlsHandshakeMs: 200 })
  const kept = await connect()
  const socket = connectPlain(thread.port, '127.0.0.1').resume()
  socket.on('error', () => {})
  await once(socket, 'close')
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.notOk(kept.closed, 'a connection may last longer')
  kept.destroy()
})

t.test('a client gets all that the front had said before it left', async (t) => {
  const bytes = Buffer.alloc(5_000_000, 'x')
  const { connect } = await start(t, {}, (socket) => void socket.end(bytes))
  const client = await connect()
  client.pause()
  await new Promise((resolve) => setTimeout(resolve, 300))
  let byteCount = 0
  client.on('data', (piece) => {
    byteCount += piece.length
  })
  client.resume()
  await once(client, 'end')
  t.equal(byteCount, bytes.length)
})

t.test('who leaves, leaves on the other side as well', async (t) => {
  const { connect, fronted } = await start(t, {})
  const ending = await connect()
  await until(() => fronted.length === 1)
  ending.end('last words')
  await once(fronted[0], 'end')
  const resetting = await connect()
  await until(() => fronted.length === 2)
  resetting.destroy()
  await once(fronted[1], 'close')
  const left = await connect()
  await until(() => fronted.length === 3)
  fronted[2].destroy()
  await once(left, 'close')
  t.pass('each was told')
})

t.test(
  'a thread that is told to stop takes nobody in, and ends when its clients have left',
  async (t) => {
    const { thread, connect, fronted } = await start(t, {})
    const client = await connect()
    await until(() => fronted.length === 1)
    await thread.stopListening()
    await t.rejects(connect(), { code: 'ECONNREFUSED' })
    let isOver = false
    const end = thread.end(30_000).then(() => {
      isOver = true
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    t.equal(isOver, false)
    client.destroy()
    await end
    t.equal(await Promise.race([thread.failure.catch(() => 'failed'), 'not failed']), 'not failed')
  },
)
