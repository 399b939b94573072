/**
 * The journal as the agreement sees it, on a disk.
 *
 * @module
 */
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { ClusterLog } from '../../src/cluster/cluster-log.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { foundJournal } from '../../src/journal/seed.js'
import { JournalWriter } from '../../src/journal/writer.js'
import type { JournalNews, JournalOrder } from '../../src/live/cluster-messages.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('what was not agreed on is taken back, and is no damage', async (t) => {
  const directory = join(temporaryDirectory(t), 'journal')
  await foundJournal(directory)
  const writer = new JournalWriter({ directory, isClustered: true })
  const append = (id: string) =>
    writer.append([
      prepareBatch({ sourceId: 1, batchId: id, changes: [{ op: 'delete', identity: id }] }),
    ])
  for (const id of ['a', 'b', 'c']) append(id)
  writer.commit(1)
  const { port1: port, port2: writing } = new MessageChannel()
  // As the thread of changes does it.
  writing.on('message', async (order: JournalOrder) => {
    if (order.kind !== 'cutBack') return
    await writer.cutBack(order.sequence)
    writing.postMessage({ kind: 'done', number: order.number } satisfies JournalNews)
  })
  const tail = { sequence: 0, epochs: [], members: [], membersSequence: 0 }
  const log = new ClusterLog({ directory, port, tail, name: 'site-a' })
  t.teardown(async () => {
    log.close()
    port.close()
    await writer.release()
  })
  const first = log.linkAt(1)
  t.equal(log.end().sequence, 3)
  await log.cutBack(1)
  t.match(log.end(), { ...first, epoch: 0 })
  t.equal(log.linkAt(2), undefined)
  append('d')
  log.refresh()
  t.equal(log.end().sequence, 2)
  t.same(log.linkAt(1), { ...first })
})
