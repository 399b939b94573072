/**
 * The shared memory in which all threads count: a page for each of them. A thread adds without atomics to its own page,
 * and the main thread reads all pages, so that no thread waits and no message is sent. A number is read as it was
 * or as it will be, since each is one aligned word of 64 bits.
 *
 * In a page, a counter or gauge has one slot for each combination of its labels. A histogram has one for each
 * bucket, one for what is beyond them, and one for the sum. The first buckets of all combinations come first, since
 * what is quick in one respect is quick in others: then fewer cache lines are touched.
 *
 * The main thread, the thread that marks, fronts and their clipping threads have fixed pages. Query workers
 * come and go, and take a page that is free. A page keeps its counters when it is taken again: they must
 * never fall.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { threadId } from 'node:worker_threads'
import { type Counted, type CountedName, counted, type Role } from './table.js'

/** The page of one thread. No other thread writes there, so that it adds without atomics. */
export type MetricSlots = Float64Array

/** The labels of one value of a metric, and its first slot; its others follow at the stride of the metric. */
export interface SlotPlace {
  readonly labels: Readonly<Record<string, string>>
  readonly slot: number
}

const places = new Map<CountedName, readonly SlotPlace[]>()
/** The first slots of each metric by the values of its labels: a thread that starts looks up hundreds. */
const firstSlots = new Map<CountedName, ReadonlyMap<string, number>>()
let nextSlot = 0
for (const [name, metric] of Object.entries(counted) as [CountedName, Counted][]) {
  const width = metric.buckets === undefined ? 1 : metric.buckets.length + 2
  const combinations = combinationsOf(Object.entries(metric.labels ?? {}))
  const first = nextSlot
  const own = combinations.map((labels, at) => ({ labels, slot: first + at }))
  places.set(name, own)
  const keyed = own.map(({ labels, slot }) => [keyOf(Object.values(labels)), slot] as const)
  firstSlots.set(name, new Map(keyed))
  nextSlot += width * combinations.length
}

const SLOT_COUNT = nextSlot

/** All places of a metric. */
export function placesOf(name: CountedName): readonly SlotPlace[] {
  return places.get(name) ?? assert.fail(`there is no metric ${name}`)
}

/**
 * The first slot of a metric. To be asked for once, before anything is counted.
 *
 * @param values  of its labels, in their order
 */
export function slotOf(name: CountedName, ...values: readonly string[]): number {
  const slot = firstSlots.get(name)?.get(keyOf(values))
  assert(slot !== undefined, `${name} has no place for ${values.join(', ')}`)
  return slot
}

/** A page that is not exposed. */
export function privatePage(): MetricSlots {
  return new Float64Array(SLOT_COUNT)
}

/** How far the slots of one place of a metric are from each other. */
export function strideOf(name: CountedName): number {
  return placesOf(name).length
}

interface Histogram {
  readonly buckets: readonly number[]
  readonly stride: number
}

export function histogramOf(name: CountedName): Histogram {
  const { buckets }: Counted = counted[name]
  assert(buckets, `${name} has no buckets`)
  return { buckets, stride: strideOf(name) }
}

/** Adds one value to a place of a histogram; most values are small, so that few bounds are compared. */
export function observe(
  page: MetricSlots,
  slot: number,
  { buckets, stride }: Histogram,
  value: number,
): void {
  let bucket = 0
  while (bucket < buckets.length && value > buckets[bucket]) bucket++
  page[slot + bucket * stride]++
  page[slot + (buckets.length + 1) * stride] += value
}

function keyOf(values: readonly string[]): string {
  return values.join('\n')
}

/** Each combination of the values, the last label first to change. */
function combinationsOf(
  labels: readonly (readonly [string, readonly string[]])[],
): Record<string, string>[] {
  let combinations: Record<string, string>[] = [{}]
  for (const [name, values] of labels) {
    combinations = combinations.flatMap((each) =>
      values.map((value) => ({ ...each, [name]: value })),
    )
  }
  return combinations
}

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
  readonly page: MetricSlots
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

export const mainPage = (memory: MetricsMemory): MetricSlots => pageAt(memory, 0)
export const marksPage = (memory: MetricsMemory): MetricSlots => pageAt(memory, 1)
export const frontPage = (memory: MetricsMemory, front: number): MetricSlots =>
  pageAt(memory, FIXED_COUNT + front)
export const clipPage = (memory: MetricsMemory, front: number): MetricSlots =>
  pageAt(memory, FIXED_COUNT + memory.frontCount + front)

/** A page for this query worker until its thread has ended; where none is free, one that is not exposed. */
export function claimWorkerPage(memory: MetricsMemory): MetricSlots {
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

/** All pages that may have been used. */
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

function named(role: Role, at: number, page: MetricSlots): ThreadPage {
  return { role, thread: `${role}-${at}`, page }
}

/** Main and marks. */
const FIXED_COUNT = 2
const FREE = 0
/** A cache line, so that no two threads write to one. */
const LINE_BYTES = 64
const PAGE_BYTES = Math.ceil((8 * SLOT_COUNT) / LINE_BYTES) * LINE_BYTES

const firstWorkerPage = ({ frontCount }: MetricsMemory) => FIXED_COUNT + 2 * frontCount

function pageAt({ buffer }: MetricsMemory, at: number): MetricSlots {
  return new Float64Array(buffer, at * PAGE_BYTES, SLOT_COUNT)
}

/** Ids of threads are never reused, and 0 is the main thread. */
function markOf(id: number): number {
  return id + 1
}

/** Slots of a worker that count only while it lives. */
const workerGauges = (Object.entries(counted) as [CountedName, Counted][])
  .filter(([, { type, by }]) => type === 'gauge' && by.includes('query'))
  .flatMap(([name]) => placesOf(name).map(({ slot }) => slot))
