import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Polygons, toPolygons } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { privatePage } from '../../src/metrics/memory.js'
import { isCancelled, type WorkerTask } from '../../src/pool/channel.js'
import { findingsLength, QueryWriter, unflatten, writeFindings } from '../../src/pool/codec.js'
import type { QueryThread } from '../../src/pool/lanes.js'
import { type QueryThreads, Scheduler } from '../../src/pool/scheduler.js'
import { type Caller, sharedClockMs } from '../../src/pool/tasks.js'
import { within } from '../support/service/in-time.js'
import { until } from '../support/service/until.js'

const polygons: Polygons = toPolygons([0, 0, 9, 0, 9, 9], [0, 3], [0, 1])

function selection(isLarge = false) {
  const shardIndexes = [3]
  const shapes = including(polygons)
  const counting = {
    countMode: 'ContactLocation',
    isDistinct: false,
    mask: null,
    moment: 0,
  } as const
  return { kind: 'count', shardIndexes, shapes, ...counting, isLarge } as const
}

const rows = {
  kind: 'encode',
  shardIndex: 0,
  runs: Uint32Array.of(0, 5),
  format: { kind: 'json' },
} as const

const rowBytes = { ...rows, kind: 'rowBytes' } as const

type QueriesTask = Extract<WorkerTask, { kind: 'queries' }>
type RowsTask = Extract<WorkerTask, { kind: 'rows' }>
type Channel = QueryThread['channel']
type TaskListener = Parameters<Channel['sendBatch']>[0]
type WorkerResult = Parameters<TaskListener['done']>[0]

interface Sent {
  readonly thread: FakeThread
  /** What a worker would find, copied as it is sent. */
  readonly task: WorkerTask
  /** @param tookMs  of the worker */
  answer(tookMs?: number): void
  die(): void
}

/** A thread whose tasks a test answers, or lets fail. */
class FakeThread implements QueryThread {
  readonly id: number
  readonly underWay = { small: 0, large: 0, rows: 0 }
  readonly channel: Channel

  constructor(id: number, sent: Sent[]) {
    this.id = id
    const batch = new QueryWriter(new Uint32Array(SLOT_WORD_COUNT), new Float64Array(4_096))
    const send = (task: WorkerTask, listener: TaskListener) => {
      sent.push({
        thread: this,
        task,
        answer: (tookMs = 0) => listener.done(resultOf(task), tookMs),
        die: () => listener.failed(new Error('for the test')),
      })
    }
    this.channel = {
      batch,
      sendMask: () => {},
      // Its tasks end when the test says so.
      drain: () => false,
      requestNotify: () => {},
      sendTask: send,
      sendBatch: (listener) => {
        const { queryCount } = batch
        const [words, floats] = [batch.words.slice(), batch.floats.slice()]
        batch.clear()
        send(
          { kind: 'queries', queryCount, words, floats, cancelFlag: null, given: null },
          listener,
        )
      },
    }
  }
}

const SLOT_WORD_COUNT = 1_024

class FakeThreads implements QueryThreads {
  readonly ready: readonly FakeThread[]
  onReady = () => {}
  readonly sent: Sent[] = []

  constructor(count: number) {
    this.ready = Array.from({ length: count }, (_, id) => new FakeThread(id, this.sent))
  }
}

function resultOf(task: WorkerTask): WorkerResult {
  if (task.kind === 'rowBytes') return { counted: 70 }
  if (task.kind === 'cells') return { counted: Float64Array.of(5, 2) }
  if (task.kind === 'catchUp') return { isCaughtUp: true }
  return task.kind === 'rows' ? writeRows(task) : countAll(task)
}

function countAll(task: QueriesTask): Uint32Array {
  const findings = unflatten(task).map(() => ({ counts: Uint32Array.of(7) }))
  const flat = new Uint32Array(findingsLength(findings))
  writeFindings(findings, flat)
  return flat
}

function writeRows({ into }: RowsTask) {
  into.fill(65, 0, 10)
  return { rowCount: 5, byteCount: 10 }
}

function started(t: Test, threadCount: number) {
  const threads = new FakeThreads(threadCount)
  const scheduler = new Scheduler(threads, createLog('silent'), privatePage())
  const run = scheduler.run.bind(scheduler)
  scheduler.run = (task, caller) => {
    const result = run(task, caller)
    // Of a test that fails, what it no longer awaits must not end the process.
    result.catch(() => {})
    return result
  }
  // The scheduler keeps no process alive, and a fake thread does not either.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => {
    clearInterval(alive)
    scheduler.stop()
  })
  return { threads, scheduler }
}

/** A caller whose client can disconnect. */
function leaving(): Caller & { gone: boolean; leave(): void } {
  const listeners: (() => void)[] = []
  return {
    ...patient(),
    gone: false,
    whenOver: (listener) => void listeners.push(listener),
    leave() {
      this.gone = true
      for (const listener of listeners) listener()
    },
  }
}

/** One whose time is over later than `until` gives up: nothing is refused while no test awaits it yet. */
const patient = () => within(60_000)

/** A clock that a test puts forward. */
function clock(t: Test): { skip(ms: number): void } {
  const now = performance.now.bind(performance)
  let skippedMs = 0
  t.intercept(performance, 'now', { value: () => now() + skippedMs })
  return {
    skip(ms) {
      skippedMs += ms
    },
  }
}

const queryCountOf = ({ task }: { task: WorkerTask }) => (task as QueriesTask).queryCount

t.test('small selections of one turn travel together, up to a limit', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const asked = Array.from({ length: limits.queriesPerTaskCount + 1 }, () =>
    scheduler.run(selection(), patient()),
  )
  // On a busy machine the last one may have been sent by itself before the first look.
  await until(() => threads.sent.length >= 1)
  t.equal(queryCountOf(threads.sent[0]), limits.queriesPerTaskCount)
  threads.sent[0].answer()
  await until(() => threads.sent.length >= 2)
  t.equal(queryCountOf(threads.sent[1]), 1)
  threads.sent[1].answer()
  for (const counts of await Promise.all(asked)) t.same(counts, [7])
})

const WORK_MS = 30

t.test('a caller is told how long its task waited for a worker', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const waitedMs: number[] = []
  const caller = { ...patient(), waited: (ms: number) => void waitedMs.push(ms) }
  const startedMs = performance.now()
  const first = scheduler.run(selection(true), caller)
  await until(() => threads.sent.length >= 1)
  const second = scheduler.run(selection(true), caller)
  await sleep(WORK_MS)
  t.equal(waitedMs.length, 1, 'the other one waits')
  threads.sent[0].answer()
  await until(() => threads.sent.length >= 2)
  threads.sent[1].answer()
  await Promise.all([first, second])
  t.equal(waitedMs.length, 2)
  t.ok(waitedMs[1] >= WORK_MS - 1 && waitedMs[1] <= performance.now() - startedMs)
})

t.test('while a short task is under way, selections gather', async (t) => {
  // They do not gather for long, and a machine with other work to do may take longer.
  const stopped = performance.now()
  t.intercept(performance, 'now', { value: () => stopped })
  const { threads, scheduler } = started(t, 2)
  const ask = (count: number) =>
    Array.from({ length: count }, () => scheduler.run(selection(), patient()))
  const asked = ask(1)
  await until(() => threads.sent.length >= 1)
  asked.push(...ask(limits.queriesGatheredCount - 1))
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(threads.sent.length, 1, 'one less than is worth a task')
  asked.push(...ask(1))
  await until(() => threads.sent.length >= 2)
  t.equal(queryCountOf(threads.sent[1]), limits.queriesGatheredCount)
  t.not(threads.sent[1].thread, threads.sent[0].thread)
  for (const { answer } of threads.sent) answer(0)
  await Promise.all(asked)
})

t.test('nobody waits long behind a task that takes longer than most', async (t) => {
  const { threads, scheduler } = started(t, 2)
  const asked = [scheduler.run(selection(), patient())]
  await until(() => threads.sent.length >= 1)
  asked.push(scheduler.run(selection(), patient()))
  await until(() => threads.sent.length >= 2)
  t.not(threads.sent[1].thread, threads.sent[0].thread)
  for (const { answer } of threads.sent) answer(0)
  await Promise.all(asked)
})

t.test('when tasks take long, nobody waits for a better filled one', async (t) => {
  const { threads, scheduler } = started(t, 2)
  const slow = scheduler.run(selection(), patient())
  await until(() => threads.sent.length >= 1)
  // Sixteen times as long as is short, since it is an average of about as many.
  await new Promise((resolve) => setTimeout(resolve, 20 * limits.shortTaskMs))
  threads.sent[0].answer()
  await slow
  const asked = [scheduler.run(selection(), patient())]
  await until(() => threads.sent.length >= 2)
  asked.push(scheduler.run(selection(), patient()))
  await until(() => threads.sent.length >= 3)
  for (const { answer } of threads.sent) answer(0)
  await Promise.all(asked)
})

t.test('a small selection with too many sources for a slot travels alone', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const { shapes, ...others } = selection()
  const [layer] = shapes.included
  const filled = (idCount: number) => {
    const sourceIds = Array.from({ length: idCount }, (_, id) => id)
    return { ...others, shapes: { ...shapes, included: [{ ...layer, sourceIds }] } }
  }
  const asked = [selection(), filled(SLOT_WORD_COUNT), selection()].map((task) =>
    scheduler.run(task, patient()),
  )
  for (const at of [0, 1, 2]) {
    await until(() => threads.sent.length > at)
    const { included } = unflatten(threads.sent[at].task as QueriesTask)[0].shapes
    t.equal(included[0].sourceIds?.length, at === 1 ? SLOT_WORD_COUNT : undefined)
    threads.sent[at].answer()
  }
  for (const counts of await Promise.all(asked)) t.same(counts, [7])
})

t.test('a selection is tried again once, by itself, then refused', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const asked = [1, 2, 3].map(() => scheduler.run(selection(), patient()))
  await until(() => threads.sent.length >= 1)
  t.equal(queryCountOf(threads.sent[0]), 3)
  threads.sent[0].die()
  await until(() => threads.sent.length >= 2)
  t.equal(queryCountOf(threads.sent[1]), 1, 'of those that died together one may be the cause')
  threads.sent[1].die()
  await t.rejects(asked[0], { code: 'Unavailable', status: 503 })
  for (const at of [2, 3]) {
    await until(() => threads.sent.length > at)
    threads.sent[at].answer()
  }
  t.same(await asked[1], [7])
  t.same(await asked[2], [7])
})

t.test('a task whose client has disconnected is not begun', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const caller = leaving()
  const asked = [scheduler.run(selection(), caller), scheduler.run(selection(), patient())]
  caller.leave()
  await t.rejects(asked[0], { code: 'Unavailable' })
  t.equal(queryCountOf(threads.sent[0]), 1)
  threads.sent[0].answer()
  await asked[1]
})

t.test('a large selection is cancelled when its client disconnects', async (t) => {
  const { threads, scheduler } = started(t, 2)
  const caller = leaving()
  const asked = scheduler.run(selection(true), caller)
  await until(() => threads.sent.length >= 1)
  const { cancelFlag } = threads.sent[0].task as QueriesTask
  t.ok(cancelFlag && !isCancelled(cancelFlag))
  caller.leave()
  t.ok(cancelFlag && isCancelled(cancelFlag))
  threads.sent[0].answer()
  await asked
})

t.test('a selection whose time is over is refused, whether it waits or not', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const late = { code: 'Unavailable', status: 503 }
  // Told at once: on a busy machine the time is over before the next line.
  const underWay = t.rejects(scheduler.run(selection(true), within(50)), late)
  await until(() => threads.sent.length >= 1)
  const [{ expiresMs }] = unflatten(threads.sent[0].task as QueriesTask)
  t.ok(Math.abs(expiresMs - sharedClockMs()) < limits.requestMs, 'workers know until when')
  const waiting = t.rejects(scheduler.run(selection(), within(50)), late)
  await Promise.all([underWay, waiting])
  threads.sent[0].answer()
  const next = scheduler.run(selection(), patient())
  await until(() => threads.sent.length >= 2)
  t.equal(queryCountOf(threads.sent[1]), 1, 'the late one does not travel any more')
  threads.sent[1].answer()
  t.same(await next, [7])
})

t.test('a task times out at its deadline and not before, whether it waits or not', async (t) => {
  // Its clock moves only when the test says so.
  const startMs = performance.now()
  let nowMs = startMs
  t.intercept(performance, 'now', { value: () => nowMs })
  const { threads, scheduler } = started(t, 1)
  const settled: string[] = []
  const ask = (name: string, isLarge: boolean, waitMs: number) =>
    scheduler.run(selection(isLarge), { ...leaving(), deadlineMs: startMs + waitMs }).then(
      () => settled.push(`${name} done`),
      ({ code }) => settled.push(`${name} ${code}`),
    )
  const underWay = [ask('sent', true, 100)]
  await until(() => threads.sent.length >= 1)
  const waiting = [ask('later', false, 101), ask('due', false, 100)]
  nowMs = startMs + 99
  await sleep(3 * limits.deadlineCheckMs)
  t.same(settled, [])
  nowMs = startMs + 100
  await Promise.all([underWay[0], waiting[1]])
  t.same(settled.toSorted(), ['due Unavailable', 'sent Unavailable'])
  threads.sent[0].answer()
  await until(() => threads.sent.length >= 2)
  t.equal(queryCountOf(threads.sent[1]), 1)
  threads.sent[1].answer()
  await waiting[0]
  t.equal(settled.at(-1), 'later done')
})

t.test('rows lie in memory that is used again, but for that of a worker that died', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const buffers = new Set<Uint8Array>()
  const encoded = async (fails: boolean) => {
    const sentCount = threads.sent.length
    const asked = scheduler.run(rows, patient()) as Promise<{ bytes: Uint8Array; release(): void }>
    await until(() => threads.sent.length >= sentCount + 1)
    buffers.add((threads.sent[sentCount].task as RowsTask).into)
    if (!fails) threads.sent[sentCount].answer()
    else {
      threads.sent[sentCount].die()
      await until(() => threads.sent.length >= sentCount + 2)
      buffers.add((threads.sent[sentCount + 1].task as RowsTask).into)
      threads.sent[sentCount + 1].answer()
    }
    const result = await asked
    t.equal(Buffer.from(result.bytes).toString(), 'A'.repeat(10))
    return result
  }
  ;(await encoded(false)).release()
  ;(await encoded(false)).release()
  t.equal(buffers.size, 1)
  const held = await encoded(false)
  await encoded(false)
  t.equal(buffers.size, 2, 'what is not released is not used again')
  held.release()
  await encoded(true)
  t.equal(buffers.size, 3, 'one was taken back, and given up with its worker')
})

t.test('bytes are counted in the lane of rows, and again when a worker dies', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const counted = scheduler.run(rowBytes, patient())
  await until(() => threads.sent.length >= 1)
  t.same(threads.sent[0].thread.underWay, { small: 0, large: 0, rows: 1 })
  threads.sent[0].die()
  await until(() => threads.sent.length >= 2)
  threads.sent[1].answer()
  t.equal(await counted, 70)
  t.same(threads.sent[0].thread.underWay, { small: 0, large: 0, rows: 0 })
  const refused = scheduler.run(rowBytes, patient())
  for (const at of [2, 3]) {
    await until(() => threads.sent.length > at)
    threads.sent[at].die()
  }
  await t.rejects(refused, { code: 'Unavailable', status: 503 })
})

t.test('so many as the queue holds, and not one more', async (t) => {
  const { scheduler } = started(t, 0)
  const asked = Array.from({ length: limits.tasksQueuedCount }, () =>
    scheduler.run(selection(), within(300)),
  )
  const settled = Promise.allSettled(asked)
  t.ok(scheduler.isFull(0))
  await t.rejects(scheduler.run(selection(), patient()), { code: 'Overloaded', status: 503 })
  await settled
  t.notOk(scheduler.isFull(0))
})

t.test('a list that has begun goes on where nothing new is taken', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const waiting = Array.from({ length: limits.tasksQueuedCount }, () =>
    scheduler.run(selection(), within(1_000)),
  )
  const settled = Promise.allSettled(waiting)
  const piece = scheduler.run(rows, patient()) as Promise<{ release(): void }>
  const sentRows = () => threads.sent.find(({ task }) => task.kind === 'rows')
  await until(() => sentRows() !== undefined)
  sentRows()?.answer()
  ;(await piece).release()
  await settled
})

t.test('it is full when the first that waits has waited too long', async (t) => {
  const { skip } = clock(t)
  const { threads, scheduler } = started(t, 1)
  const large = scheduler.run(selection(true), patient())
  await until(() => threads.sent.length >= 1)
  const waiting = scheduler.run(selection(), patient())
  t.notOk(scheduler.isFull(0))
  skip(limits.smallWaitMs + 1)
  t.ok(scheduler.isFull(0))
  threads.sent[0].answer()
  await until(() => threads.sent.length >= 2)
  t.notOk(scheduler.isFull(0))
  threads.sent[1].answer()
  await Promise.all([large, waiting])
})

t.test('what would wait too long behind others is refused when it comes', async (t) => {
  for (const isLarge of [false, true]) {
    const { threads, scheduler } = started(t, 2)
    const letIn = patient()
    const first = scheduler.run(selection(isLarge), letIn)
    await until(() => threads.sent.length >= 1)
    // The average begins to move with it: one of 64 counts a 64th.
    threads.sent[0].answer(64 * 10)
    await first
    const serverCount = isLarge ? 1 : 2
    const mostCount = Math.floor((serverCount * limits.backlogMs) / 10)
    const asked = Array.from({ length: mostCount + 1 }, () =>
      scheduler.run(selection(isLarge), patient()),
    )
    t.equal(scheduler.isFull(limits.smallBodyBytes + 1), true)
    t.equal(scheduler.isFull(0), !isLarge, 'by its size a small one is told from large ones')
    await t.rejects(scheduler.run(selection(isLarge), patient()), { code: 'Overloaded' })
    asked.push(scheduler.run(selection(isLarge), letIn))
    const answering = setInterval(() => {
      for (const { answer } of threads.sent.splice(0)) answer(0)
    }, 1)
    await Promise.all(asked)
    clearInterval(answering)
    t.equal(scheduler.isFull(limits.smallBodyBytes + 1), false)
  }
})

t.test('few of those that take long travel together', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const first = scheduler.run(selection(), patient())
  await until(() => threads.sent.length >= 1)
  threads.sent[0].answer((64 * limits.batchMs) / 3)
  await first
  const asked = Array.from({ length: 8 }, () => scheduler.run(selection(), patient()))
  await until(() => threads.sent.length >= 2)
  t.equal(queryCountOf(threads.sent[1]), 3)
  const answering = setInterval(() => {
    for (const { answer } of threads.sent.splice(0)) answer(0)
  }, 1)
  await Promise.all(asked)
  clearInterval(answering)
})

t.test('large selections of a single worker let pieces of lists between them', async (t) => {
  const { threads, scheduler } = started(t, 1)
  const asked: Promise<unknown>[] = [1, 2].map(() => scheduler.run(selection(true), patient()))
  await until(() => threads.sent.length >= 1)
  asked.push(scheduler.run(rows, patient()))
  threads.sent[0].answer()
  await until(() => threads.sent.length >= 3)
  t.same(
    threads.sent.map(({ task }) => task.kind),
    ['queries', 'rows', 'queries'],
  )
  for (const { answer } of threads.sent) answer(0)
  await Promise.all(asked)
})

t.test('large selections that wait too long shut out large bodies alone', async (t) => {
  const { skip } = clock(t)
  const { threads, scheduler } = started(t, 2)
  const asked = [1, 2].map(() => scheduler.run(selection(true), patient()))
  await until(() => threads.sent.length >= 1)
  t.notOk(scheduler.isFull(limits.smallBodyBytes + 1))
  skip(limits.largeWaitMs + 1)
  t.ok(scheduler.isFull(limits.smallBodyBytes + 1))
  t.notOk(scheduler.isFull(limits.smallBodyBytes))
  await t.rejects(scheduler.run(selection(true), patient()), { code: 'Overloaded' })
  threads.sent[0].answer()
  await until(() => threads.sent.length >= 2)
  threads.sent[1].answer()
  await Promise.all(asked)
})
