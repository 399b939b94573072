/**
 * One address, several front threads.
 *
 * @module
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { OperatorError } from '../../src/errors.js'
import { sharesPorts } from '../../src/http/engine/choose.js'
import { type Acceptor, listen } from '../../src/http/listen.js'
import { engine } from '../support/service/engine.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText } from './wire.js'

const HOST = '127.0.0.1'

interface Front {
  readonly worker: Worker
  readonly descriptor: number | undefined
  readonly exited: Promise<number>
  shutDown(): void
}

async function startFront(): Promise<Front> {
  const worker = new Worker(new URL('./fixtures/front.js', import.meta.url))
  const exited = once(worker, 'exit').then(([code]) => Number(code))
  const [descriptor] = await once(worker, 'message')
  const shutDown = () => worker.postMessage({ quietMs: 300, deadlineMs: 5_000 })
  return { worker, descriptor, exited, shutDown }
}

/** The threads that answer, and the connections that the last of them counts. */
async function answering(port: number, requestCount: number) {
  const threads = new Map<string, number>()
  for (let i = 0; i < requestCount; i++) {
    const [thread] = String((await request(port, 'GET /who')).body).split(' ')
    threads.set(thread, (threads.get(thread) ?? 0) + 1)
  }
  return [...threads.values()]
}

const CAN_SHARE = engine.name === 'uws' || sharesPorts()

/** An acceptor whose connections go to these fronts from now on, by whatever the engine can do. */
async function acceptorOf(fronts: readonly Front[]): Promise<Acceptor> {
  const isHandedOver = engine.name === 'uws'
  const acceptor = await listen(engine, {
    host: HOST,
    port: 0,
    isShared: !isHandedOver && CAN_SHARE,
  })
  for (const { descriptor } of fronts) acceptor.addFront(descriptor)
  if (isHandedOver) return acceptor
  if (!CAN_SHARE) acceptor.close()
  for (const { worker } of CAN_SHARE ? fronts : fronts.slice(0, 1)) {
    worker.postMessage({ host: HOST, port: acceptor.port, isShared: CAN_SHARE })
    await once(worker, 'message')
  }
  await acceptor.stopListening()
  return acceptor
}

if (engine.name === 'uws')
  t.test('connections are handed to the fronts in turn', async (t) => {
    const acceptor = await listen(engine, { host: HOST, port: 0, isShared: false })
    const { status, headers } = await request(acceptor.port, 'GET /who')
    t.equal(status, 503, 'before there is a front')
    t.equal(headers.connection, 'close')
    const fronts = [await startFront(), await startFront()]
    for (const { descriptor } of fronts) acceptor.addFront(descriptor)
    t.same(await answering(acceptor.port, 20), [10, 10])
    const kept = new Client(acceptor.port)
    kept.write(requestText('GET /who'))
    t.match(String((await kept.answer()).body), / [1-9]/, 'a front counts its connections')
    kept.socket.destroy()

    await acceptor.stopListening()
    await t.rejects(request(acceptor.port, 'GET /who'))
    for (const front of fronts) front.shutDown()
    t.same(await Promise.all(fronts.map(({ exited }) => exited)), [0, 0])
    acceptor.close()
  })

t.test('shutting down under load loses no request', async (t) => {
  const fronts = [await startFront(), await startFront()]
  const acceptor = await acceptorOf(fronts)
  const load = Array.from({ length: 16 }, () => new Caller(acceptor))
  const finished = Promise.all(load.map((caller) => caller.run()))
  await until(() => load.every((caller) => caller.answeredCount > 5))
  await acceptor.stopListening()
  for (const front of fronts) front.shutDown()
  const exitCodes = await Promise.all(fronts.map((front) => front.exited))
  acceptor.close()
  await finished
  t.same(exitCodes, [0, 0])
  t.same(
    load.flatMap((caller) => caller.faults),
    [],
  )
  t.ok(
    load.every((caller) => caller.toldToClose),
    'each learnt that its connection ends',
  )
})

t.test('an address that cannot be listened on is an error that says so', async (t) => {
  const port = await freePort()
  const acceptor = await listen(engine, { host: HOST, port, isShared: false })
  const fault = await listen(engine, { host: HOST, port, isShared: false }).catch((error) => error)
  t.ok(fault instanceof OperatorError)
  t.match(fault, { code: 'AddressInUse', message: `cannot listen on ${HOST}:${port}` })
  await t.rejects(listen(engine, { host: '203.0.113.7', port: 0, isShared: false }), {
    code: 'AddressInUse',
  })
  // The side that closes a connection first holds its port for a while; a restart must not care.
  t.equal((await request(port, 'GET /')).headers.connection, 'close')
  acceptor.close()
  const again = await listen(engine, { host: HOST, port, isShared: false })
  t.equal(again.port, port, 'free after it was closed')
  again.close()
})

if (CAN_SHARE)
  t.test('two listeners share a port only where both want to', async (t) => {
    const port = await freePort()
    const first = await listen(engine, { host: HOST, port, isShared: true })
    const second = await listen(engine, { host: HOST, port, isShared: true })
    t.equal(second.port, port)
    await t.rejects(listen(engine, { host: HOST, port, isShared: false }), { code: 'AddressInUse' })
    await first.stopListening()
    for (let i = 0; i < 10; i++) t.equal((await request(port, 'GET /')).status, 503)
    first.close()
    second.close()
  })

t.test('only the address that was given is listened on', async (t) => {
  const acceptor = await listen(engine, { host: HOST, port: 0, isShared: false })
  const other = connect(acceptor.port, '127.0.0.2')
  await t.rejects(once(other, 'connect'), { code: 'ECONNREFUSED' })
  acceptor.close()
})

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, HOST, resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Calls over one kept connection after another until it is told that its connection ends. */
class Caller {
  answeredCount = 0
  toldToClose = false
  readonly faults: unknown[] = []
  readonly #acceptor: Acceptor

  constructor(acceptor: Acceptor) {
    this.#acceptor = acceptor
  }

  async run(): Promise<void> {
    const client = new Client(this.#acceptor.port)
    const body = 'x'.repeat(100)
    try {
      while (!this.toldToClose) {
        client.write(requestText('POST /who', { body }) + body)
        const answer = await client.answer()
        if (answer.status !== 200 || String(answer.body) !== body) this.faults.push(answer)
        this.answeredCount++
        this.toldToClose = answer.headers.connection === 'close'
      }
      await client.untilClosed()
      this.faults.push(...client.errors)
    } catch (fault) {
      this.faults.push(fault)
    }
  }
}
