import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { createLogCounters, LineQueue, logFigures } from '../../src/access-log/queue.js'
import { limits } from '../../src/limits.js'
import { callsOver } from '../../src/threads/calls.js'

t.test('a line that finds no room is counted as dropped, and takes none', async (t) => {
  const { port1 } = new MessageChannel()
  t.teardown(() => port1.close())
  const counters = createLogCounters()
  const queue = new LineQueue(port1, counters)
  const line = `${'x'.repeat(9_999)}\n`
  const roomFor = Math.floor(limits.accessLogQueuedBytes / line.length)
  for (let count = 0; count < roomFor + 3; count++) queue.add(line)
  t.same(logFigures(counters), { droppedCount: 3, queuedBytes: roomFor * line.length })
})

t.test('lines of a moment travel together', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const queue = new LineQueue(port1, createLogCounters())
  queue.add('one\n')
  queue.add('two\n')
  const written = new Promise((write) => callsOver(port2, { write }))
  queue.flush()
  t.equal(await written, 'one\ntwo\n')
})
