import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createMetricsMemory } from '../../src/metrics/memory.js'
import { openTablesToWrite } from '../../src/store/digests.js'
import { storeDirectory } from '../../src/store/tables.js'
import { createProgress } from '../../src/suppressions/progress.js'
import type {
  ChangedMarksCalls,
  MarksCalls,
  MarksThreadData,
} from '../../src/suppressions/serve-marks.js'
import { callsOver } from '../../src/threads/calls.js'
import { startThread } from '../../src/threads/thread.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** A thread that sets marks, in a directory without suppression lists. */
async function started(t: Test) {
  const dataDirectory = temporaryDirectory(t)
  await openTablesToWrite(storeDirectory(dataDirectory)).close()
  const data: MarksThreadData = {
    dataDirectory,
    progress: createProgress(),
    ownName: 'test',
    metrics: createMetricsMemory(1, 1),
  }
  return startThread<MarksCalls>('suppressions', { title: 'the thread of a test', data })
}

const failed = { code: 'Failed', message: 'the thread of a test failed: TypeError' }

t.test('a snapshot whose marks cannot be set ends the thread', async (t) => {
  const thread = await started(t)
  const attached = thread.ask.attach({} as never)
  await Promise.all([t.rejects(thread.failure, failed), t.rejects(attached, failed)])
})

t.test('changes whose marks cannot be set end it, and have no answer', async (t) => {
  const thread = await started(t)
  const { port1, port2 } = new MessageChannel()
  thread.tell.follow(port1)
  let isAnswered = false
  const answered = () => {
    isAnswered = true
  }
  callsOver<ChangedMarksCalls>(port2)
    .ask.change(undefined as never)
    .then(answered, answered)
  await t.rejects(thread.failure, failed)
  await thread.ended
  t.notOk(isAnswered)
})

t.test('it stops when it is told', async (t) => {
  const thread = await started(t)
  t.same(await thread.ask.catchUp('none', 'all', []), { recipientCount: 0 })
  await thread.stop()
})
