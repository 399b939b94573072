/**
 * Who hears what comes to a snapshot, and for how long.
 *
 * @module
 */
import { MessageChannel, Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { type DigestCalls, serveDigests } from '../../src/live/make-digests.js'
import type { ChangeCalls } from '../../src/live/messages.js'
import { serveFront } from '../../src/live/serve-front.js'
import { createWaiting } from '../../src/live/waiting.js'
import type { Increment } from '../../src/shard/delta/increment.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { openTablesToWrite } from '../../src/store/digests.js'
import { storeDirectory } from '../../src/store/tables.js'
import { callsOver } from '../../src/threads/calls.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

type Listener = (increments: readonly Increment[]) => void

const increment: Increment = { moment: 3, seals: Uint32Array.of(1, 2, 3), shards: [], deltas: [] }

function served(t: Test) {
  const listeners = new Set<Listener>()
  const own = {
    listen(listener: Listener) {
      listener([increment])
      listeners.add(listener)
    },
    ignore: (listener: Listener) => void listeners.delete(listener),
  }
  const { port1, port2 } = new MessageChannel()
  const append = () => {
    t.fail('no batch is sent')
    return Promise.resolve({})
  }
  serveFront(port1, new Map([['s1', own]]), append, undefined)
  t.teardown(() => port1.close())
  return { listeners, port: port2 }
}

t.test('a thread that is ended hears no more', async (t) => {
  const { listeners, port } = served(t)
  const follow = { name: 'follow', args: ['s1'] }
  const code = `
    const { port, follow } = require('node:worker_threads').workerData
    port.on('message', () => {})
    port.postMessage(follow)
  `
  const workerData = { port, follow }
  const worker = new Worker(code, { eval: true, workerData, transferList: [port] })
  await until(() => listeners.size === 1)
  await worker.terminate()
  await until(() => listeners.size === 0)
  t.equal(listeners.size, 0)
})

t.test('a front that follows a snapshot once more hears it once', async (t) => {
  const { listeners, port } = served(t)
  let heardCount = 0
  const { tell } = callsOver<ChangeCalls>(port, { increments: () => heardCount++ })
  tell.follow('s1')
  tell.follow('s1')
  await until(() => heardCount === 2)
  t.equal(listeners.size, 1)
})

t.test('digests that are made are told, and nothing is heard any more', async (t) => {
  const { listeners, port } = served(t)
  const said: string[] = []
  const send = port.postMessage.bind(port)
  port.postMessage = (message: { readonly name: string }) => {
    said.push(message.name)
    send(message)
  }
  const { port1, port2 } = new MessageChannel()
  const dataDirectory = temporaryDirectory(t)
  await openTablesToWrite(storeDirectory(dataDirectory)).close()
  const snapshot = { id: 's1', sources: [], shards: [] } as Partial<Snapshot> as Snapshot
  const changes = { port, waiting: createWaiting() }
  serveDigests(port1, { dataDirectory, snapshot, moment: 3, changes })
  const { ask, tell } = callsOver<DigestCalls>(port2)
  t.same(await ask.make(), { regions: [], changedPart: undefined })
  t.same(said, ['follow', 'ignore'])
  tell.stop()
  await until(() => listeners.size === 0)
})
