/**
 * Where each metric has its numbers in the page of a thread. A counter or gauge has one slot for each
 * combination of its labels; a histogram has one for each bucket, one for what is beyond them, and one
 * for the sum. The first buckets of all combinations come first, since what is quick in one respect is
 * quick in others: then fewer lines of the cache are touched.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { type Counted, type CountedName, counted } from './table.js'

/** The numbers of one thread. Nobody else writes there, so that it adds plainly. */
export type Page = Float64Array

/** The labels of one place, and its first slot; its others follow at the stride of the metric. */
export interface Place {
  readonly labels: Readonly<Record<string, string>>
  readonly slot: number
}

const places = new Map<CountedName, readonly Place[]>()
/** The first slots of each metric by the values of its labels. A thread that starts looks up hundreds. */
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

export const SLOT_COUNT = nextSlot

/** All places of a metric. */
export function placesOf(name: CountedName): readonly Place[] {
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

/** A page of a thread whose numbers nobody reads. */
export function privatePage(): Page {
  return new Float64Array(SLOT_COUNT)
}

/** How far the slots of one place of a metric are from each other. */
export function strideOf(name: CountedName): number {
  return placesOf(name).length
}

/** A histogram, as a writer holds it. */
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
  page: Page,
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
