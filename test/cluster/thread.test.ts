/** The start of a machine whose snapshot has more than its journal, as after a loss of power. */
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createFigures } from '../../src/cluster/figures.js'
import { behindSnapshot } from '../../src/cluster/journal.js'
import type { ClusterCalls } from '../../src/cluster/messages.js'
import { ClusterNats } from '../../src/cluster/nats/cluster-nats.js'
import { readState } from '../../src/cluster/state-file.js'
import { serveCluster } from '../../src/cluster/thread.js'
import { journalDirectory, journalPath, positionPath } from '../../src/journal/files.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { beginSnapshot } from '../../src/snapshot/publish/begin.js'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { createStore } from '../../src/store/store.js'
import { callsOver } from '../../src/threads/calls.js'
import { appendEach, makeClustered } from '../support/data/clustered.js'
import { columnsWith } from '../support/data/keyed-columns.js'
import { silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const left = (name: string) => ({ kind: 'left', name }) as const

/** A machine with two entries and a snapshot behind the second one, whose position was lost with the power. */
async function withoutPower(t: Test) {
  const data = temporaryDirectory(t)
  await (await createStore(data, silentLog)).close()
  const one = { lng: 10, lat: 50, contact: 'a', phone: '+9991', key: '1' }
  const columns = await columnsWith([one], true)
  await withDataLock(data, async (lock) => {
    const draft = await beginSnapshot(lock, { log: silentLog })
    await draft.put({ id: 1, label: 'one' }, columns, { appliedSequence: 2 })
    await draft.publish()
    await draft.discard()
  })
  await makeClustered(data, [left('c')])
  const directory = journalDirectory(data)
  const position = readFileSync(positionPath(directory))
  const writer = new JournalWriter({ directory, isClustered: true })
  appendEach(writer, left('d'))
  await writer.release()
  return { data, position, path: journalPath(directory, 1) }
}

t.test('what is on disk is not taken before the log says it again', async (t) => {
  const { data, position, path } = await withoutPower(t)
  t.equal(await behindSnapshot(data), undefined)
  writeFileSync(positionPath(journalDirectory(data)), position)
  t.same(await behindSnapshot(data), { needed: 2, kept: 2 })
  truncateSync(path, readFileSync(path).length - 1)
  t.same(await behindSnapshot(data), { needed: 2, kept: 1 })
})

t.test('a machine that waits for its journal, which is damaged, begins anew', async (t) => {
  const { data, position, path } = await withoutPower(t)
  writeFileSync(positionPath(journalDirectory(data)), position)
  const bytes = readFileSync(path)
  bytes[bytes.length >> 2] ^= 1
  writeFileSync(path, bytes)
  const { open } = ClusterNats
  t.teardown(() => Object.assign(ClusterNats, { open }))
  const nats = {
    openLog: async () => ({ stream: {}, connection: { isUp: false, onChange: () => () => {} } }),
    calls: { ask: () => Promise.reject(new Error('no answer')) },
    close: async () => {},
  }
  Object.assign(ClusterNats, { open: async () => nats })
  const known = process.listeners('uncaughtException')
  const { exit } = process
  const { port1, port2 } = new MessageChannel()
  t.teardown(async () => {
    const ended = new Promise<void>((resolve) => {
      Object.assign(process, { exit: resolve })
    })
    thread.tell.stop()
    await ended
    Object.assign(process, { exit })
    port1.close()
    for (const listener of process.listeners('uncaughtException')) {
      if (!known.includes(listener)) process.off('uncaughtException', listener)
    }
  })
  const told: unknown[] = []
  const beginAnew = (reason: string) => told.push(reason)
  const thread = callsOver<ClusterCalls>(port1, { beginAnew, status() {} })
  serveCluster(port2, {
    dataDirectory: data,
    settings: {
      nats: { servers: ['nats://127.0.0.1:1'] } as never,
      clusterId: 'main',
      name: 'site-a',
      natsMonitors: [],
      maxLagMs: 60_000,
    },
    version: '1',
    journalFileBytes: 1_000_000,
    figures: createFigures(),
    logLevel: 'silent',
  })
  await thread.ask.begun()
  t.same(told, ['suspect'])
  t.equal(readState(data)?.beginsAnew, 'suspect')
})
