/**
 * All metrics as text, in the two forms that Prometheus reads. The library writes the text; the numbers
 * come from the shared memory and from what the main thread is asked.
 *
 * @module
 */
import {
  type Metric,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
} from 'prom-client'
import {
  type MetricsMemory,
  placesOf,
  type SlotPlace,
  strideOf,
  type ThreadPage,
  threadPages,
} from './memory.js'
import {
  type Counted,
  type CountedName,
  counted,
  type Reading,
  type ReadingName,
  readings,
} from './table.js'

/** One value of a reading. */
export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

type Labels = Readonly<Record<string, string>>

/** Called at each scrape; undefined or an empty list where the value is unknown. */
export type Readings = Readonly<Record<ReadingName, () => number | readonly Sample[] | undefined>>

export type ExpositionForm = PrometheusContentType | OpenMetricsContentType

export const TEXT_FORM = Registry.PROMETHEUS_CONTENT_TYPE
export const OPEN_FORM = Registry.OPENMETRICS_CONTENT_TYPE

/** @returns what writes all metrics as they are */
export function createExposition(
  memory: MetricsMemory,
  asked: Readings,
): (form: ExpositionForm) => Promise<string> {
  const pages = threadPages(memory)
  const write = (form: ExpositionForm) => {
    const registry = new Registry<ExpositionForm>()
    registry.setContentType(form)
    for (const [name, metric] of Object.entries(counted) as [CountedName, Counted][]) {
      register(registry, name, metric, () => samplesOf(name, metric, pages))
    }
    for (const [name, reading] of Object.entries(readings) as [ReadingName, Reading][]) {
      register(registry, name, reading, () => readingSamples(asked[name]))
    }
    return () => registry.metrics()
  }
  const ways = { [TEXT_FORM]: write(TEXT_FORM), [OPEN_FORM]: write(OPEN_FORM) }
  return (form) => ways[form]()
}

/** A value as the library takes it. */
interface Value {
  readonly metricName?: string
  readonly labels: Labels
  readonly value: number
}

function register(
  registry: Registry<ExpositionForm>,
  name: string,
  { help, type }: Pick<Counted, 'help' | 'type'>,
  values: () => readonly Value[],
): void {
  // The registry changes the name of a counter to that of its family.
  const metric = {
    name,
    help,
    type,
    get: async () => ({ name: metric.name, help, type, values: values() }),
  }
  // The registry uses no more of a metric than this; the library's own classes would count by themselves.
  registry.registerMetric(metric as unknown as Metric)
}

/** A reading that throws, for example when the disk of the store fails, must not prevent all others. */
function readingSamples(ask: Readings[ReadingName]): Value[] {
  let read: ReturnType<typeof ask>
  try {
    read = ask()
  } catch {
    return []
  }
  if (read === undefined) return []
  if (typeof read === 'number') return [{ labels: {}, value: read }]
  return read.map(({ labels = {}, value }) => ({ labels, value }))
}

function samplesOf(name: CountedName, metric: Counted, all: readonly ThreadPage[]): Value[] {
  const pages = all.filter(({ role }) => metric.by.includes(role))
  const groups = metric.across === 'thread' ? pages.map((page) => [page]) : [pages]
  return groups.flatMap((group) => {
    const thread = metric.across === 'thread' ? { thread: group[0].thread } : {}
    const join = metric.across === 'max' ? greatest : sum
    const values = placesOf(name).flatMap((place) => {
      const at = (slot: number) => join(group.map(({ page }) => page[slot]))
      const isLeftOut = metric.isThereAtZero?.(place.labels) === false && at(place.slot) === 0
      if (isLeftOut) return []
      return valuesAt(name, metric, { ...place, labels: { ...place.labels, ...thread } }, at)
    })
    // There are more pages than there are threads that come and go.
    const isThere = metric.across !== 'thread' || !mayBeUnused(group[0])
    return isThere || values.some(({ value }) => value !== 0) ? values : []
  })
}

function mayBeUnused({ role }: ThreadPage): boolean {
  return role === 'query' || role === 'clip'
}

function valuesAt(
  name: CountedName,
  { buckets }: Counted,
  { labels, slot }: SlotPlace,
  at: (slot: number) => number,
): Value[] {
  if (buckets === undefined) return [{ labels, value: at(slot) }]
  const stride = strideOf(name)
  let count = 0
  const values: Value[] = buckets.map((bound, bucket) => {
    count += at(slot + bucket * stride)
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: count }
  })
  count += at(slot + buckets.length * stride)
  values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count })
  values.push({
    metricName: `${name}_sum`,
    labels,
    value: at(slot + (buckets.length + 1) * stride),
  })
  values.push({ metricName: `${name}_count`, labels, value: count })
  return values
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const greatest = (values: readonly number[]) => Math.max(0, ...values)
