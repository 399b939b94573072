import t from 'tap'
import { privatePage, slotOf } from '../../src/metrics/slots.js'
import { LaneCounts } from '../../src/pool/lane-counts.js'
import { Line } from '../../src/pool/line.js'
import { callerUntil, type EncodeTask } from '../../src/pool/messages.js'
import { takeOverdue } from '../../src/pool/overdue.js'
import { Waiting } from '../../src/pool/waiting.js'

const task: EncodeTask = {
  kind: 'encode',
  shardIndex: 0,
  runs: new Uint32Array(0),
  format: { kind: 'json' },
}
const waitingUntil = (deadlineMs: number) =>
  new Waiting(
    task,
    callerUntil(deadlineMs),
    () => {},
    () => {},
  )
const noLines = () => ({
  small: new Line<Waiting>(),
  large: new Line<Waiting>(),
  rows: new Line<Waiting>(),
})
const WAITING = slotOf('hickory_tasks_waiting', 'rows')
const OLDEST = slotOf('hickory_oldest_task_seconds', 'rows')

t.test('two pools of one thread add up, and take away what is their own', async (t) => {
  const page = privatePage()
  const [old, current] = [new LaneCounts(page), new LaneCounts(page)]
  const [oldLines, lines] = [noLines(), noLines()]
  for (let i = 0; i < 3; i++) oldLines.rows.join(waitingUntil(0))
  lines.rows.join(waitingUntil(0))
  old.tell(oldLines, performance.now())
  current.tell(lines, performance.now())
  t.equal(page[WAITING], 4)
  old.tell(noLines(), performance.now())
  t.equal(page[WAITING], 1)
  current.tell(noLines(), performance.now())
  t.equal(page[WAITING], 0)
})

t.test('each task that fails counts', async (t) => {
  const page = privatePage()
  const counts = new LaneCounts(page)
  counts.failed(1)
  counts.failed(3)
  t.equal(page[slotOf('hickory_task_failures_total')], 4)
})

t.test('the oldest task is told until it is gone, and not by a pool that has none', async (t) => {
  const page = privatePage()
  const [idle, busy] = [new LaneCounts(page), new LaneCounts(page)]
  const lines = noLines()
  const first = waitingUntil(0)
  lines.rows.join(first)
  busy.tell(lines, first.enteredMs + 2_000)
  idle.tell(noLines(), first.enteredMs + 2_000)
  t.equal(page[OLDEST].toFixed(6), '2.000000')
  lines.rows.leave(first)
  busy.tell(lines, first.enteredMs + 3_000)
  t.equal(page[OLDEST], 0)
})

t.test('tasks are taken out of their line at their deadline, and not before', async (t) => {
  const lines = noLines()
  const [due, later] = [waitingUntil(100), waitingUntil(101)]
  for (const each of [later, due]) lines.rows.join(each)
  const underWay = [[waitingUntil(99), waitingUntil(200)]]
  const late = [...takeOverdue(Object.values(lines), underWay, 100)]
  t.same(late.length, 2)
  t.ok(late.includes(due) && late.includes(underWay[0][0]))
  t.equal(lines.rows.length, 1)
  t.equal(lines.rows.first, later)
})
