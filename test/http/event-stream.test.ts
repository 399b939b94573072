/**
 * What waits for slow clients, together.
 *
 * @module
 */
import t from 'tap'
import { EventStream } from '../../src/http/event-stream.js'
import type { Reply, Sink } from '../../src/selection/reply.js'

/** A client that takes nothing until it is told to. */
class Client implements Sink {
  gone = false
  isBusy = true
  abortCount = 0
  readonly taken: Uint8Array[] = []
  #drain = () => {}

  write(bytes: Uint8Array): boolean {
    this.taken.push(bytes)
    return !this.isBusy
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drain = resolve
    })
  }

  goOn(): void {
    this.isBusy = false
    this.#drain()
  }

  end(): void {}

  abort(): void {
    this.abortCount++
    this.gone = true
    this.#drain()
  }
}

const EVENT = { kind: 'counts', id: 'a', json: JSON.stringify('x'.repeat(1_000)) } as const
const EVENT_BYTES = `event: ${EVENT.kind}\nid: ${EVENT.id}\ndata: ${EVENT.json}\n\n`.length

function start(maxBytes: number) {
  const waiting = { bytes: 0, maxBytes }
  const open = () => {
    const client = new Client()
    client.isBusy = false
    const reply = { begin: () => client } as unknown as Reply
    const stream = new EventStream({ reply, waiting, mayGoOn: () => true })
    stream.open()
    client.isBusy = true
    return { client, stream }
  }
  return { waiting, open }
}

t.test('what waits has a bound over all clients, and one past it is cut off', async (t) => {
  const { waiting, open } = start(2 * EVENT_BYTES)
  const all = [open(), open(), open()]
  for (const { stream } of all.slice(0, 2)) stream.tell(EVENT)
  t.equal(waiting.bytes, waiting.maxBytes)
  t.same(
    all.map(({ client }) => client.abortCount),
    [0, 0, 0],
  )
  all[2].stream.tell(EVENT)
  t.same(
    all.map(({ client }) => client.abortCount),
    [0, 0, 1],
  )
  await new Promise(setImmediate)
  t.equal(waiting.bytes, waiting.maxBytes, 'what it held is free')
  for (const { client } of all.slice(0, 2)) client.goOn()
  await new Promise(setImmediate)
  t.equal(waiting.bytes, 0)
})

t.test('the bytes of an event are made once, for all', async (t) => {
  const { open } = start(1 << 20)
  const all = [open(), open()]
  for (const { client, stream } of all) {
    client.isBusy = false
    stream.tell(EVENT)
  }
  t.equal(all[0].client.taken[1], all[1].client.taken[1])
})

t.test('an end waits for the event in front of it', async (t) => {
  const { open } = start(1 << 20)
  const { client, stream } = open()
  let endCount = 0
  client.end = () => void endCount++
  stream.tell(EVENT)
  stream.tell({ ...EVENT, id: 'b' })
  stream.tell({ ...EVENT, id: 'c' })
  stream.end('deleted')
  t.equal(endCount, 0)
  client.goOn()
  await new Promise(setImmediate)
  t.equal(endCount, 1)
  t.match(Buffer.concat(client.taken).toString(), /id: a\n.*id: c\n/s)
  t.notMatch(Buffer.concat(client.taken).toString(), 'id: b')
})

t.test('a service that stops waits for nobody who reads slowly', async (t) => {
  for (const why of ['stopping', 'refused'] as const) {
    const { waiting, open } = start(1 << 20)
    const { client, stream } = open()
    stream.tell(EVENT)
    stream.end(why)
    t.equal(client.abortCount, 1)
    await new Promise(setImmediate)
    t.equal(waiting.bytes, 0)
  }
})
