import t from 'tap'
import { privatePage, slotOf } from '../../src/metrics/memory.js'
import { Channel } from '../../src/pool/channel.js'
import {
  type Lane,
  LaneCounts,
  PendingTask,
  type QueryThread,
  TaskQueue,
  threadFor,
} from '../../src/pool/lanes.js'
import { callerUntil, type EncodeTask } from '../../src/pool/tasks.js'

/** Of each worker: how many small, large and rows tasks it has, a digit each. */
type UnderWay = string

const cases: readonly (readonly [string, Lane, UnderWay, number | undefined])[] = [
  ['the least busy one', 'small', '101 100 101', 1],
  ['the first of equals', 'small', '000 000', 0],
  ['not behind a large one', 'small', '010 102', 1],
  ['two small ones at most', 'small', '200 200', undefined],
  ['in spite of rows', 'small', '102', 0],
  ['rows beside one other task', 'rows', '100', 0],
  ['rows not behind two', 'rows', '101 200 002', undefined],
  ['rows not behind a large one', 'rows', '010 001', 1],
  ['a large one', 'large', '202 000', 1],
  ['a large one in spite of others', 'large', '202 202', 0],
  ['one worker is kept free of large ones', 'large', '010 000', undefined],
  ['two of three may have a large one', 'large', '010 000 000', 1],
  ['not three of three', 'large', '010 010 000', undefined],
  ['the only worker has all lanes', 'large', '200', 0],
  ['no worker', 'small', '', undefined],
]

/** While rows wait. */
const casesBesideRows: typeof cases = [
  ['one small one at most', 'small', '100 101', undefined],
  ['small ones before rows', 'small', '002', 0],
  ['rows beside one small one', 'rows', '100', 0],
]

/** The same while small ones come in. */
const casesBesideBoth: typeof cases = [
  ['two small ones at the first worker', 'small', '100 101', 0],
  ['one small one at the others', 'small', '200 101', undefined],
  ['rows not at the first worker', 'rows', '000 001', 1],
  ['rows at the others alone', 'rows', '000 101', undefined],
  ['the only worker has all lanes', 'rows', '100', 0],
]

t.test('where a task may go', async (t) => {
  const groups = [
    { each: cases, demand: { rowsWait: false, smallComeIn: false } },
    { each: casesBesideRows, demand: { rowsWait: true, smallComeIn: false } },
    { each: casesBesideBoth, demand: { rowsWait: true, smallComeIn: true } },
  ]
  for (const { each, demand } of groups) {
    for (const [title, lane, underWay, expected] of each) {
      t.equal(threadFor(lane, threadsOf(underWay), demand)?.id, expected, title)
    }
  }
})

function threadsOf(underWay: UnderWay): QueryThread[] {
  const channel = new Channel()
  return underWay.split(' ').flatMap((digits, id) => {
    const [small, large, rows] = Array.from(digits, Number)
    return digits === '' ? [] : [{ id, underWay: { small, large, rows }, channel }]
  })
}

const task: EncodeTask = {
  kind: 'encode',
  shardIndex: 0,
  runs: new Uint32Array(0),
  format: { kind: 'json' },
}
const pending = () =>
  new PendingTask(
    task,
    callerUntil(0),
    () => {},
    () => {},
  )
const emptyQueues = () => ({
  small: new TaskQueue(),
  large: new TaskQueue(),
  rows: new TaskQueue(),
})
const WAITING = slotOf('hickory_tasks_waiting', 'rows')
const OLDEST = slotOf('hickory_oldest_task_seconds', 'rows')

t.test('two pools of one thread add up, and take away what is their own', async (t) => {
  const page = privatePage()
  const [old, current] = [new LaneCounts(page), new LaneCounts(page)]
  const [oldQueues, queues] = [emptyQueues(), emptyQueues()]
  for (let i = 0; i < 3; i++) oldQueues.rows.push(pending())
  queues.rows.push(pending())
  old.update(oldQueues, performance.now())
  current.update(queues, performance.now())
  t.equal(page[WAITING], 4)
  old.update(emptyQueues(), performance.now())
  t.equal(page[WAITING], 1)
  current.update(emptyQueues(), performance.now())
  t.equal(page[WAITING], 0)
})

t.test('each task that fails counts', async (t) => {
  const page = privatePage()
  const counts = new LaneCounts(page)
  counts.failed(1)
  counts.failed(3)
  t.equal(page[slotOf('hickory_task_failures_total')], 4)
})

t.test('the oldest task counts until it is gone, and a pool without tasks leaves it', async (t) => {
  const page = privatePage()
  const [idle, busy] = [new LaneCounts(page), new LaneCounts(page)]
  const queues = emptyQueues()
  const first = pending()
  queues.rows.push(first)
  busy.update(queues, first.enteredMs + 2_000)
  idle.update(emptyQueues(), first.enteredMs + 2_000)
  t.equal(page[OLDEST].toFixed(6), '2.000000')
  queues.rows.remove(first)
  busy.update(queues, first.enteredMs + 3_000)
  t.equal(page[OLDEST], 0)
})
