import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { privatePage, slotOf } from '../../src/metrics/memory.js'
import { gcKinds } from '../../src/metrics/table.js'
import { heapNoter, startVitals } from '../../src/metrics/vitals.js'
import { collectGarbage } from '../support/collect-garbage.js'
import { until } from '../support/service/until.js'

const HEAP_USED = slotOf('hickory_heap_used_bytes')
const DELAY = slotOf('hickory_event_loop_delay_seconds')

t.test('a thread tells how long it stood still, and of its garbage', async (t) => {
  const page = privatePage()
  const vitals = startVitals(page)
  t.teardown(() => vitals.stop())
  t.ok(page[HEAP_USED] > 1e6, 'at once')
  await sleep(50)
  const untilMs = performance.now() + 300
  while (performance.now() < untilMs);
  collectGarbage()
  await until(() => page[DELAY] > 0)
  t.ok(page[DELAY] > 0.2 && page[DELAY] < 60, `${page[DELAY]} s`)
  const runs = () =>
    gcKinds.reduce((sum, kind) => sum + page[slotOf('hickory_gc_runs_total', kind)], 0)
  await until(() => runs() > 0)
  t.ok(page[slotOf('hickory_gc_seconds_total', 'major')] > 0)
})

t.test('between tasks, a heap is noted once a second', async (t) => {
  const page = privatePage()
  const note = heapNoter(page)
  note(5_000)
  t.ok(page[HEAP_USED] > 0)
  page[HEAP_USED] = 0
  note(5_999)
  t.equal(page[HEAP_USED], 0)
  note(6_000)
  t.ok(page[HEAP_USED] > 0)
})
