/**
 * What the page of the state shows: tables of text.
 *
 * @module
 */
import type { StatusTable } from '../admin/status-page.js'
import { countedSamples, type Readings } from '../metrics/exposition.js'
import type { MetricsMemory } from '../metrics/memory.js'
import { tablesOfCluster } from './known-cluster.js'
import type { ServiceState } from './state.js'

export function statusTables(
  state: ServiceState,
  memory: MetricsMemory,
  readings: Readings,
  version: string,
): () => StatusTable[] {
  const samples = countedSamples(memory)
  const read = (name: keyof Readings) => {
    const value = readings[name]()
    return typeof value === 'number' ? value : 0
  }
  return () => [
    { title: 'Service', header: ['', ''], rows: serviceRows(state, version, read) },
    ...tablesOfCluster(() => state.cluster),
    { title: 'Sources', header: SOURCE_HEADER, rows: sourceRows(state, readings) },
    {
      title: 'Switches of snapshots, the last one first',
      header: ['at', 'snapshot', 'result'],
      rows: state.attempts.map(({ atMs, snapshotId, reason }) => [
        timeOf(atMs),
        snapshotId,
        reason === undefined ? 'served' : `refused: ${reason}`,
      ]),
    },
    {
      title: 'Tasks',
      header: ['lane', 'waiting', 'waiting or under way', 'the first waits for s'],
      rows: samples('hickory_tasks_waiting').map(({ labels, value }, at) => [
        labels.lane,
        value,
        samples('hickory_tasks_open')[at].value,
        seconds(samples('hickory_oldest_task_seconds')[at].value),
      ]),
    },
    { title: 'Threads', header: THREAD_HEADER, rows: threadRows(samples) },
    {
      title: 'Memory, MB',
      header: ['resident', 'limit', 'address space of arenas', 'masks'],
      rows: [
        [
          megabytes(read('hickory_resident_memory_bytes')),
          megabytes(read('hickory_memory_limit_bytes')),
          megabytes(read('hickory_arena_bytes')),
          megabytes(samples('hickory_mask_bytes')[0].value),
        ],
      ],
    },
    {
      title: 'Requests since the start',
      header: ['operation', 'status', 'count'],
      rows: counts(samples('hickory_requests_total')),
    },
    {
      title: 'Refusals since the start',
      header: ['code', 'count'],
      rows: counts(samples('hickory_refusals_total')),
    },
    {
      title: 'Answers cut off since the start',
      header: ['reason', 'count'],
      rows: counts(samples('hickory_answers_cut_total')),
    },
  ]
}

type Samples = ReturnType<typeof countedSamples>
type Rows = StatusTable['rows']

function serviceRows(
  { phase, startedMs, served, news }: ServiceState,
  version: string,
  read: (name: keyof Readings) => number,
): Rows {
  return [
    ['version', `${version}, Node.js ${process.version}`],
    ['state', phase],
    ['since', `${timeOf(startedMs)}, ${age(startedMs)}`],
    ['snapshot', served?.snapshot.id ?? 'none yet'],
    [
      'made',
      served === undefined
        ? ''
        : `${served.snapshot.createdAt}, ${age(Date.parse(served.snapshot.createdAt))}`,
    ],
    [
      'served since',
      served === undefined ? '' : `${timeOf(served.sinceMs)}, ${age(served.sinceMs)}`,
    ],
    ['loading', news.loading ?? 'nothing'],
    [
      'refused',
      news.refused === undefined
        ? 'nothing'
        : `${news.refused.snapshotId ?? ''} ${news.refused.reason}`,
    ],
    [
      'changes',
      `up to batch ${read('hickory_sequence')} of ${read('hickory_journal_sequence')}, ` +
        `${read('hickory_changed_recipients')} recipients since the snapshot`,
    ],
    ['contexts', read('hickory_contexts')],
    [
      'suppressed numbers',
      `${read('hickory_suppressed_numbers')}, version ${read('hickory_suppression_version')}`,
    ],
  ]
}

const SOURCE_HEADER = ['id', 'label', 'recipients', 'contacts', 'suppressed recipients']

function sourceRows({ served }: ServiceState, readings: Readings): Rows {
  const suppressed = readings.hickory_source_suppressed_recipients()
  return (served?.snapshot.sources ?? []).map(({ id, label, recipientCount, contactCount }, at) => [
    id,
    label,
    recipientCount,
    contactCount,
    Array.isArray(suppressed) ? suppressed[at].value : 0,
  ])
}

const THREAD_HEADER = ['thread', 'event loop stood for ms', 'heap MB', 'tasks', 'busy s']

function threadRows(samples: Samples): Rows {
  const byThread = (name: Parameters<Samples>[0]) =>
    new Map(samples(name).map(({ labels, value }) => [labels.thread, value]))
  const delays = byThread('hickory_event_loop_delay_seconds')
  const tasks = byThread('hickory_query_worker_tasks_total')
  const busy = byThread('hickory_query_worker_busy_seconds_total')
  const rounded = (value: number | undefined, digits: number) => value?.toFixed(digits) ?? ''
  return samples('hickory_heap_used_bytes').map(({ labels: { thread }, value }) => {
    const delay = delays.get(thread)
    return [
      thread,
      rounded(delay === undefined ? undefined : 1_000 * delay, 1),
      megabytes(value),
      rounded(tasks.get(thread), 0),
      rounded(busy.get(thread), 1),
    ]
  })
}

function counts(values: ReturnType<Samples>): Rows {
  return values
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => [...Object.values(labels), value])
}

const timeOf = (ms: number) => new Date(ms).toISOString()
function age(ms: number): string {
  const minuteCount = Math.max(0, Math.round((Date.now() - ms) / 60_000))
  return minuteCount === 1 ? '1 minute ago' : `${minuteCount} minutes ago`
}
const seconds = (value: number) => value.toFixed(3)
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
