/**
 * What the scheduler of a query pool counts, by lane. While snapshots are switched two pools of one thread
 * count in the same page, hence each adds and takes away what is its own.
 *
 * @module
 */
import { histogramOf, observe, type Page, slotOf } from '../metrics/slots.js'
import { lanes } from '../metrics/table.js'
import type { Line } from './line.js'
import type { Lane } from './placement.js'
import type { Waiting } from './waiting.js'

export class LaneCounts {
  readonly #page: Page
  /** What is told of each lane. */
  readonly #waitingCount: Record<Lane, number> = { small: 0, large: 0, rows: 0 }
  readonly #isOld: Record<Lane, boolean> = { small: false, large: false, rows: false }

  constructor(page: Page) {
    this.#page = page
  }

  /** Tasks come, or are settled. */
  opened(lane: Lane, change: 1 | -1): void {
    this.#page[slots[lane].open] += change
  }

  /** A task goes to a worker. */
  waited(lane: Lane, ms: number): void {
    observe(this.#page, slots[lane].wait, WAIT_SECONDS, ms / 1_000)
  }

  failed(taskCount: number): void {
    this.#page[TASK_FAILURES] += taskCount
  }

  /** Tells how many wait, and for how long. */
  tell(lines: Readonly<Record<Lane, Line<Waiting>>>, nowMs: number): void {
    const page = this.#page
    for (const lane of lanes) {
      const { length, first } = lines[lane]
      page[slots[lane].waiting] += length - this.#waitingCount[lane]
      this.#waitingCount[lane] = length
      // Where nobody waits, the other pool may have something to tell.
      if (first === undefined && !this.#isOld[lane]) continue
      this.#isOld[lane] = first !== undefined
      page[slots[lane].oldest] = first === undefined ? 0 : (nowMs - first.enteredMs) / 1_000
    }
  }
}

const slots = Object.fromEntries(
  lanes.map((lane) => [
    lane,
    {
      open: slotOf('hickory_tasks_open', lane),
      waiting: slotOf('hickory_tasks_waiting', lane),
      oldest: slotOf('hickory_oldest_task_seconds', lane),
      wait: slotOf('hickory_task_wait_seconds', lane),
    },
  ]),
) as Readonly<Record<Lane, Record<'open' | 'waiting' | 'oldest' | 'wait', number>>>

const TASK_FAILURES = slotOf('hickory_task_failures_total')
const WAIT_SECONDS = histogramOf('hickory_task_wait_seconds')
