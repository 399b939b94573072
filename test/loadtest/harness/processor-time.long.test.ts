import { Worker } from 'node:worker_threads'
import t from 'tap'
import { directionOf, isRelative } from '../../../loadtest/harness/directions.js'
import { processorFigures } from '../../../loadtest/harness/processor-table.js'
import {
  type ProcessorReading,
  processorUse,
  readProcessor,
} from '../../../loadtest/harness/processor-time.js'

const before: ProcessorReading = {
  threads: [
    { id: 10, isMain: true, seconds: 2, nice: 0 },
    { id: 11, isMain: false, seconds: 0, nice: 0 },
    { id: 12, isMain: false, seconds: 1, nice: 0 },
    { id: 13, isMain: false, seconds: 1, nice: 0 },
    { id: 14, isMain: false, seconds: 1, nice: 5 },
  ],
  processSeconds: 5,
  machineSeconds: 100,
  idleSeconds: 50,
}

function later(addedSeconds: readonly number[], processSeconds: number): ProcessorReading {
  return {
    threads: before.threads.map((thread, at) => ({
      ...thread,
      seconds: thread.seconds + addedSeconds[at],
    })),
    processSeconds,
    machineSeconds: 108,
    idleSeconds: 52,
  }
}

t.test('fronts, query workers and all others are told apart', async (t) => {
  // The main thread, a helper, two fronts, a query worker; half a second of a thread that has ended.
  const use = processorUse(before, later([0.1, 0.2, 1, 0.8, 0.4], 8), 100_000)
  for (const [name, expected] of Object.entries({
    frontMicroseconds: 18,
    queryMicroseconds: 4,
    otherMicroseconds: 8,
    idleShare: 0.25,
  })) {
    t.ok(Math.abs(use[name as keyof typeof use] - expected) < 1e-6, `${name} is ${expected}`)
  }
})

t.test('a server that works in its main thread has its front there', async (t) => {
  const use = processorUse(before, later([1, 0.1, 0, 0, 0], 6.1), 100_000)
  t.ok(Math.abs(use.frontMicroseconds - 10) < 1e-6)
  t.ok(Math.abs(use.otherMicroseconds - 1) < 1e-6)
  t.equal(use.queryMicroseconds, 0)
})

t.test('a thread that began between the readings has used all that it has used', async (t) => {
  const after = later([0.1, 0, 0, 0, 0], 6.1)
  const begun = { id: 20, isMain: false, seconds: 0.7, nice: 5 }
  const use = processorUse(before, { ...after, threads: [...after.threads, begun] }, 100_000)
  t.ok(Math.abs(use.queryMicroseconds - 7) < 1e-6)
})

t.test(
  'a busy thread that gives way is taken for a query worker, and its time found',
  async (t) => {
    const start = readProcessor(process.pid)
    const worker = new Worker(
      `require('node:os').setPriority(0, 5)
     const { threadCpuUsage = process.cpuUsage } = process
     const spent = () => { const { user, system } = threadCpuUsage.call(process); return user + system }
     const from = spent()
     while (spent() - from < 300_000);
     require('node:worker_threads').parentPort.postMessage('done')
     setInterval(() => {}, 1_000)`,
      { eval: true },
    )
    await new Promise((resolve) => worker.once('message', resolve))
    const end = readProcessor(process.pid)
    await worker.terminate()
    if (start === undefined || end === undefined) throw new Error('Linux tells processor time')
    const { queryMicroseconds, idleShare } = processorUse(start, end, 1)
    t.ok(
      queryMicroseconds > 100_000,
      `${queryMicroseconds} of 300,000 microseconds, in steps of 10,000`,
    )
    t.ok(idleShare >= 0 && idleShare <= 1, `${idleShare}`)
  },
)

t.test('of a process that has ended nothing is known', async (t) => {
  t.equal(readProcessor(2 ** 30), undefined)
})

t.test('in a comparison, times of the echo server are no better or worse', async (t) => {
  const use = { frontMicroseconds: 30, queryMicroseconds: 10, otherMicroseconds: 2, idleShare: 0.1 }
  const figures = processorFigures(use, { ...use, frontMicroseconds: 15 })
  t.equal(figures.frontCostToEchoRatio, 2)
  t.same(
    Object.keys(figures).map((name) => [name, directionOf(name), isRelative(name)]),
    [
      ['frontMicroseconds', 'lower is better', false],
      ['queryMicroseconds', 'lower is better', false],
      ['otherMicroseconds', 'lower is better', false],
      ['idleShare', 'neither', true],
      ['frontCostToEchoRatio', 'lower is better', true],
      ['echoFrontMicroseconds', 'neither', false],
      ['echoOtherMicroseconds', 'neither', false],
      ['echoIdleShare', 'neither', true],
    ],
  )
})
