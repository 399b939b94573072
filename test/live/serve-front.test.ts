/**
 * Who hears what comes to a snapshot, and for how long.
 *
 * @module
 */
import { MessageChannel, Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import type { DigestNews } from '../../src/live/digest-messages.js'
import { makeDigests } from '../../src/live/make-digests.js'
import type { FrontMessage } from '../../src/live/messages.js'
import { serveFront } from '../../src/live/serve-front.js'
import type { Increment } from '../../src/shard/delta/increment.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { storeDirectory } from '../../src/store/tables.js'
import { openTablesToWrite } from '../../src/store/write-tables.js'
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
  serveFront(port1, new Map([['s1', own]]), () => t.fail('no batch is sent'), undefined)
  t.teardown(() => port1.close())
  return { listeners, port: port2 }
}

t.test('a thread that is ended hears no more', async (t) => {
  const { listeners, port } = served(t)
  const follow: FrontMessage = { kind: 'follow', snapshotId: 's1' }
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
  port.postMessage({ kind: 'follow', snapshotId: 's1' } satisfies FrontMessage)
  port.postMessage({ kind: 'follow', snapshotId: 's1' } satisfies FrontMessage)
  await new Promise((resolve) => port.once('message', resolve))
  await new Promise((resolve) => port.once('message', resolve))
  t.equal(listeners.size, 1)
})

t.test('digests that are made are told, and nothing is heard any more', async (t) => {
  const { listeners, port } = served(t)
  const said: FrontMessage[] = []
  const send = port.postMessage.bind(port)
  port.postMessage = (message: FrontMessage) => {
    said.push(message)
    send(message)
  }
  const { port1: main, port2: told } = new MessageChannel()
  t.teardown(() => main.close())
  const tables = openTablesToWrite(storeDirectory(temporaryDirectory(t)))
  const news = new Promise<DigestNews>((resolve) => told.once('message', resolve))
  const snapshot = { id: 's1', sources: [], shards: [] } as Partial<Snapshot> as Snapshot
  await makeDigests(main, tables, { snapshot, moment: 3, changes: port })
  t.same(await news, { kind: 'done', regions: [], changedPart: undefined })
  t.same(
    said.map(({ kind }) => kind),
    ['follow', 'ignore'],
  )
  await until(() => listeners.size === 0)
})
