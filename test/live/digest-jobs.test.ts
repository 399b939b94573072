/**
 * Threads that make digests, and end.
 *
 * @module
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import t from 'tap'
import { DigestJobs } from '../../src/live/digest-jobs.js'
import { createWaiting } from '../../src/live/waiting.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { openTablesToWrite } from '../../src/store/digests.js'
import { storeDirectory } from '../../src/store/tables.js'
import { callsOver } from '../../src/threads/calls.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('one that waits for what never comes can be ended', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const tables = openTablesToWrite(storeDirectory(dataDirectory))
  t.teardown(() => tables.close())
  const ports: MessagePort[] = []
  const openChanges = () => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1)
    return { port: port2, waiting: createWaiting() }
  }
  const jobs = new DigestJobs({ dataDirectory, openChanges })
  t.teardown(() => jobs.stop())
  jobs.attached({ id: 's1', sources: [], shards: [] } as Partial<Snapshot> as Snapshot)
  const job = jobs.start('s1', 7)
  if (job === undefined) throw new Error('it is attached')
  const [port] = ports
  const followed = new Promise((follow) => callsOver(port, { follow }))
  t.equal(await followed, 's1')
  const closed = new Promise((resolve) => port.once('close', resolve))
  job.end()
  await t.rejects(job.result, { message: /the thread of digests has ended/ })
  await closed
  t.equal(jobs.start('s2', 7), undefined)
})
