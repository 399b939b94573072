/**
 * What a machine of a cluster puts into its journal by order of the cluster.
 */
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { prepareEntry } from '../../src/journal/batch.js'
import type { JournalWriter } from '../../src/journal/writer.js'
import type { BatchWriting } from '../../src/live/batch-writing.js'
import type { JournalNews, JournalOrder } from '../../src/live/cluster-messages.js'
import { ClusteredBatches } from '../../src/live/clustered-batches.js'

t.test('only the machine that writes enters anything', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const entered: string[] = []
  const writer: Pick<JournalWriter, 'append'> = {
    append(batches) {
      for (const { batchId } of batches) entered.push(batchId)
      return batches.map(() => ({ kind: 'written', sequence: entered.length })) as never
    },
  }
  const writing: Pick<BatchWriting, 'pause' | 'resume' | 'succeeds' | 'takeBack'> = {
    pause() {},
    resume() {},
    succeeds() {},
    takeBack: () => [],
  }
  new ClusteredBatches({ port: port2, writer: writer as never, writing: writing as never })
  let number = 0
  const order = async (given: (number: number) => JournalOrder) => {
    port1.postMessage(given(++number))
    const [news] = (await once(port1, 'message')) as [JournalNews]
    return news.kind === 'done' ? news.fault : news.kind
  }
  const enter = (id: string) =>
    order((number) => ({ kind: 'enter', number, entry: prepareEntry(id, new Uint8Array(1)) }))
  const begin = () =>
    order((number) => ({ kind: 'begin', number, entry: prepareEntry('epoch', new Uint8Array(1)) }))
  t.match(await enter('before it writes'), /another machine writes/)
  t.equal(await begin(), undefined)
  t.equal(await enter('while it writes'), undefined)
  t.equal(await order((number) => ({ kind: 'stop', number })), undefined)
  t.match(await enter('when it has stopped'), /another machine writes/)
  t.same(entered, ['epoch', 'while it writes'])
})
