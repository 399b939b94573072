/**
 * The store among threads and processes: what one writes, all others see at once.
 *
 * @module
 */
import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import t from 'tap'
import { serveChanges } from '../../src/store/change-port.js'
import { writtenContext } from '../../src/store/documents.js'
import type { MainStore } from '../../src/store/store.js'
import { storeDirectory } from '../../src/store/tables.js'
import { temporaryStore } from '../support/data/store.js'
import { startWriter } from '../support/data/store-writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

async function startFront(dataDirectory: string, store: MainStore) {
  const { port1, port2: changes } = new MessageChannel()
  const changeSuppressions = () => Promise.reject(new Error('not asked for'))
  serveChanges(port1, { makeChange: store.makeChange, changeSuppressions })
  const worker = new Worker(new URL('./fixtures/front.js', import.meta.url), {
    workerData: { dataDirectory, changes },
    transferList: [changes],
  })
  await once(worker, 'message')
  const ask = async (kind: string, value?: unknown) => {
    worker.postMessage({ kind, value })
    return (await once(worker, 'message'))[0]
  }
  return { worker, ask }
}

t.test('a change by any front thread is seen by the others, once it is made', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const store = await temporaryStore(t, dataDirectory)
  const fronts = [
    await startFront(dataDirectory, store),
    await startFront(dataDirectory, store),
    await startFront(dataDirectory, store),
  ]
  for (const { ask } of fronts) {
    const context = writtenContext({})
    t.equal(await ask('change', { kind: 'context', context, mayReplace: false }), 'changed')
    for (const other of fronts) {
      t.equal(await other.ask('version', context.id), context.header.version)
    }
    t.equal(store.contextVersion(context.id), context.header.version)
    t.same(await ask('change', { kind: 'context', context, mayReplace: false }), {
      code: 'AlreadyExists',
      field: 'Id',
    })
  }
  await fronts[0].ask('change', { kind: 'configuration', json: '{}', countMode: 'Contact' })
  for (const { ask } of fronts) t.equal(await ask('mode'), 'Contact')
  for (const { worker } of fronts) {
    worker.postMessage({ kind: 'close' })
    t.same(await once(worker, 'exit'), [0], 'it ends by itself')
  }
})

t.test('threads that read may be ended at any time', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const store = await temporaryStore(t, dataDirectory)
  for (let round = 0; round < 5; round++) {
    const fronts = await Promise.all([0, 1, 2].map(() => startFront(dataDirectory, store)))
    await Promise.all(fronts.map(({ ask }) => ask('readForEver')))
    const ended = fronts.map(({ worker }) => worker.terminate())
    const context = writtenContext({})
    await store.change({ kind: 'context', context, mayReplace: false })
    await Promise.all(ended)
    t.equal(store.page(0, 1).totalCount, round + 1)
  }
})

t.test('two processes may have one store, each sees what the other has stored', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const store = await temporaryStore(t, dataDirectory)
  const { child, acknowledged, read } = startWriter(t, storeDirectory(dataDirectory))
  for (let i = 0; i < 50; i++) {
    const context = writtenContext({})
    await store.change({ kind: 'context', context, mayReplace: false })
    await until(() => acknowledged.length > i)
    t.ok(store.contextVersion(acknowledged[i]))
    t.ok(store.contextVersion(context.id))
  }
  child.kill('SIGKILL')
  await read
  t.same(
    acknowledged.filter((id) => store.contextVersion(id) === undefined),
    [],
  )
})
