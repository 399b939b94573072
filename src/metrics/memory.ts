/**
 * The memory in which all threads count: a page for each of them. A thread adds plainly to its own page,
 * and the main thread reads all pages. So nobody waits, and no message is sent.
 *
 * The main thread, the thread that marks, fronts and their clipping threads have fixed pages. Query workers
 * come and go, and take a page that is free. A page keeps its counters when it is taken again: they must
 * never fall. A number is read as it was or as it will be, since each is one aligned word of 64 bits.
 *
 * @module
 */
import { threadId } from 'node:worker_threads'
import { type Page, placesOf, privatePage, SLOT_COUNT } from './slots.js'
import { type Counted, type CountedName, counted, type Role } from './table.js'

/** As it crosses threads. */
export interface MetricsMemory {
  readonly buffer: SharedArrayBuffer
  readonly frontCount: number
  /** One Int32 for each page of a query worker: FREE, or the mark of the thread that has it. */
  readonly owners: Int32Array
}

export interface ThreadPage {
  readonly role: Role
  /** Such as `front-0`. */
  readonly thread: string
  readonly page: Page
}

/** @param queryThreadCount  of all fronts; while snapshots are switched there are twice as many */
export function createMetricsMemory(frontCount: number, queryThreadCount: number): MetricsMemory {
  // One more for each front: a worker that died may still be ending.
  const workerCount = 2 * queryThreadCount + frontCount
  const pageCount = FIXED_COUNT + 2 * frontCount + workerCount
  return {
    buffer: new SharedArrayBuffer(pageCount * PAGE_BYTES),
    frontCount,
    owners: new Int32Array(new SharedArrayBuffer(4 * workerCount)),
  }
}

export const mainPage = (memory: MetricsMemory): Page => pageAt(memory, 0)
export const marksPage = (memory: MetricsMemory): Page => pageAt(memory, 1)
export const frontPage = (memory: MetricsMemory, front: number): Page =>
  pageAt(memory, FIXED_COUNT + front)
export const clipPage = (memory: MetricsMemory, front: number): Page =>
  pageAt(memory, FIXED_COUNT + memory.frontCount + front)

/** A page for this query worker until its thread has ended; one that nobody reads where none is free. */
export function claimWorkerPage(memory: MetricsMemory): Page {
  const { owners } = memory
  for (let worker = 0; worker < owners.length; worker++) {
    if (Atomics.compareExchange(owners, worker, FREE, markOf(threadId)) === FREE) {
      return pageAt(memory, firstWorkerPage(memory) + worker)
    }
  }
  return privatePage()
}

/** Only for a thread that has ended: until then it may still write. */
export function releaseWorkerPage(memory: MetricsMemory, endedThreadId: number): void {
  const { owners } = memory
  for (let worker = 0; worker < owners.length; worker++) {
    if (Atomics.load(owners, worker) !== markOf(endedThreadId)) continue
    const page = pageAt(memory, firstWorkerPage(memory) + worker)
    for (const slot of workerGauges) page[slot] = 0
    Atomics.store(owners, worker, FREE)
  }
}

/** Every page of which somebody may have made use. */
export function threadPages(memory: MetricsMemory): ThreadPage[] {
  const { frontCount, owners } = memory
  const fronts = Array.from({ length: frontCount }, (_, front) => front)
  return [
    { role: 'main', thread: 'main', page: mainPage(memory) },
    { role: 'marks', thread: 'marks', page: marksPage(memory) },
    ...fronts.map((at) => named('front', at, frontPage(memory, at))),
    ...fronts.map((at) => named('clip', at, clipPage(memory, at))),
    ...Array.from(owners, (_, at) =>
      named('query', at, pageAt(memory, firstWorkerPage(memory) + at)),
    ),
  ]
}

function named(role: Role, at: number, page: Page): ThreadPage {
  return { role, thread: `${role}-${at}`, page }
}

/** Main and marks. */
const FIXED_COUNT = 2
const FREE = 0
/** Of a line of the cache, so that no two threads write to one. */
const LINE_BYTES = 64
const PAGE_BYTES = Math.ceil((8 * SLOT_COUNT) / LINE_BYTES) * LINE_BYTES

const firstWorkerPage = ({ frontCount }: MetricsMemory) => FIXED_COUNT + 2 * frontCount

function pageAt({ buffer }: MetricsMemory, at: number): Page {
  return new Float64Array(buffer, at * PAGE_BYTES, SLOT_COUNT)
}

/** No id is ever given again, and 0 is the main thread. */
function markOf(id: number): number {
  return id + 1
}

/** What is true of a worker only while it lives. */
const workerGauges = (Object.entries(counted) as [CountedName, Counted][])
  .filter(([, { type, by }]) => type === 'gauge' && by.includes('query'))
  .flatMap(([name]) => placesOf(name).map(({ slot }) => slot))
