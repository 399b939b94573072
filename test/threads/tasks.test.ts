import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import {
  importThreadCount,
  runTasksHere,
  startTaskThreads,
  type TaskRunner,
} from '../../src/threads/tasks.js'
import type { TestTask } from './task-thread.js'

const ENTRY = new URL('./task-thread.js', import.meta.url)

function start(t: Test, threadCount: number): TaskRunner<TestTask, number> {
  const threads = startTaskThreads<TestTask, number>(ENTRY, threadCount)
  t.teardown(() => threads.close())
  return threads
}

const double = (value: number): TestTask => ({ do: 'double', value })

t.test(
  'there are as many threads as cores, one at least, and not more than the limit',
  async (t) => {
    t.ok(importThreadCount() >= 1 && importThreadCount() <= limits.importThreadCount)
  },
)

t.test('every task gets its own result, with more tasks than threads and with fewer', async (t) => {
  for (const threadCount of [1, 2, 5]) {
    const threads = start(t, threadCount)
    const values = Array.from({ length: 40 }, (_, value) => value)
    const results = await Promise.all(values.map((value) => threads.run(double(value))))
    t.same(
      results,
      values.map((value) => 2 * value),
    )
  }
})

t.test('what a task throws comes over with its code, and the thread goes on', async (t) => {
  const threads = start(t, 1)
  await t.rejects(threads.run({ do: 'refuse' }), { code: 'InputRejected', exitCode: 5 })
  await t.rejects(threads.run({ do: 'throw' }), { message: 'the disk is full' })
  t.equal(await threads.run(double(4)), 8)
})

for (const task of ['crash', 'exit'] as const) {
  t.test(`a thread that dies by ${task} fails its task and all that wait or come`, async (t) => {
    const threads = start(t, 1)
    const results = await Promise.allSettled([threads.run({ do: task }), threads.run(double(1))])
    t.match(results, [
      { status: 'rejected', reason: /a thread failed/ },
      { status: 'rejected', reason: /a thread failed/ },
    ])
    await t.rejects(threads.run(double(1)), /a thread failed/)
    await threads.close()
  })
}

t.test('a thread that cannot be loaded fails its task', async (t) => {
  const broken = new URL('../pool/fixtures/broken.js', import.meta.url)
  const threads = startTaskThreads<TestTask, number>(broken, 2)
  await t.rejects(threads.run(double(1)), /cannot be loaded/)
  await threads.close()
})

t.test('to close is to wait for what is under way and to take back the rest', async (t) => {
  const threads = start(t, 1)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const underWay = threads.run({ do: 'wait', gate })
  const waiting = threads.run(double(1))
  let isClosed = false
  const closed = threads.close().then(() => {
    isClosed = true
  })
  await t.rejects(waiting, { code: 'Failed', message: /not begun/ })
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.notOk(isClosed)
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  t.equal(await underWay, 0, 'its result is not lost')
  await closed
  await t.rejects(threads.run(double(3)), /not begun/)
})

t.test('what a task tells comes before its result, in order', async (t) => {
  const told: number[] = []
  const threads = startTaskThreads<TestTask, number, number>(ENTRY, 1, (news) => {
    told.push(news)
  })
  t.equal(await threads.run({ do: 'count', to: 3 }), 3)
  t.same(told, [1, 2, 3])
  await threads.close()
})

t.test('a task that cannot be sent fails, and its thread does others and ends', async (t) => {
  const threads = start(t, 1)
  const value = (() => 1) as unknown as number
  await t.rejects(threads.run(double(value)), /could not be cloned/)
  t.equal(await threads.run(double(2)), 4)
  await threads.close()
})

t.test('threads end when they are closed, at once or twice', async () => {
  const threads = startTaskThreads<TestTask, number>(ENTRY, 3)
  await Promise.all([threads.close(), threads.close()])
  await threads.close()
})

t.test('tasks that are done here are done one after the other, whatever they throw', async (t) => {
  let underWayCount = 0
  const here = runTasksHere(async (value: number) => {
    t.equal(++underWayCount, 1)
    await new Promise((resolve) => setImmediate(resolve))
    underWayCount--
    if (value === 1) throw new Error('one')
    return value
  })
  const results = await Promise.allSettled([0, 1, 2].map((value) => here.run(value)))
  t.match(results, [{ value: 0 }, { reason: /one/ }, { value: 2 }])
  t.equal(await here.run(3), 3)
  const underWay = here.run(4)
  const waiting = here.run(5)
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([here.close(), t.rejects(waiting, /not begun/)])
  t.equal(underWayCount, 0)
  t.equal(await underWay, 4)
})
