/**
 * Event-loop delay, garbage collections and heap of a thread, which it writes into its page every second.
 *
 * @module
 */
import {
  constants,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { type MetricSlots, slotOf } from './memory.js'
import { gcKinds } from './table.js'

interface Vitals {
  stop(): void
}

/** For a thread whose event loop turns. */
export function startVitals(page: MetricSlots): Vitals {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  const longest = new Float64Array(WINDOW_SECONDS)
  let second = 0
  const look = () => {
    noteHeap(page)
    // The monitor measures the time between two turns, which includes its resolution.
    longest[second++ % WINDOW_SECONDS] = Math.max(0, delays.max / 1e9 - RESOLUTION_MS / 1e3)
    delays.reset()
    page[EVENT_LOOP_DELAY] = longest.reduce((most, each) => Math.max(most, each), 0)
  }
  noteHeap(page)
  const timer = setInterval(look, SECOND_MS).unref()
  const observer = watchGarbage(page)
  return {
    stop() {
      clearInterval(timer)
      delays.disable()
      observer.disconnect()
    },
  }
}

/** The heap of this thread, as it is now. Takes some microseconds. */
function noteHeap(page: MetricSlots): void {
  const { used_heap_size, total_heap_size } = getHeapStatistics()
  page[HEAP_USED] = used_heap_size
  page[HEAP_SIZE] = total_heap_size
}

/** For a thread without an event loop between its tasks: writes the heap, at most once a second. */
export function heapNoter(page: MetricSlots): (nowMs: number) => void {
  let notedMs = Number.NEGATIVE_INFINITY
  return (nowMs) => {
    if (nowMs - notedMs < SECOND_MS) return
    notedMs = nowMs
    noteHeap(page)
  }
}

/** The types of Node.js leave out the detail. */
type GarbageEntry = PerformanceEntry & { readonly detail: { readonly kind: number } }

function watchGarbage(page: MetricSlots): PerformanceObserver {
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as GarbageEntry
      const slots = gcSlots.get(detail.kind)
      if (slots === undefined) continue
      page[slots.runs]++
      page[slots.seconds] += duration / 1e3
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return observer
}

const SECOND_MS = 1_000
const RESOLUTION_MS = 20
/** Longer than scrapes are apart. */
const WINDOW_SECONDS = 30

const EVENT_LOOP_DELAY = slotOf('hickory_event_loop_delay_seconds')
const HEAP_USED = slotOf('hickory_heap_used_bytes')
const HEAP_SIZE = slotOf('hickory_heap_size_bytes')

const gcConstants: Readonly<Record<(typeof gcKinds)[number], number>> = {
  minor: constants.NODE_PERFORMANCE_GC_MINOR,
  major: constants.NODE_PERFORMANCE_GC_MAJOR,
  incremental: constants.NODE_PERFORMANCE_GC_INCREMENTAL,
  weak: constants.NODE_PERFORMANCE_GC_WEAKCB,
}

const gcSlots = new Map(
  gcKinds.map((kind) => [
    gcConstants[kind],
    {
      runs: slotOf('hickory_gc_runs_total', kind),
      seconds: slotOf('hickory_gc_seconds_total', kind),
    },
  ]),
)
