/**
 * The table of all metrics: the one place where a metric gets its name, its labels and its help.
 *
 * `counted` lie in shared memory, where threads add to them (memory.ts). Their labels have fixed values,
 * so that each has its slots before anything is counted. `readings` are asked for at each
 * scrape, in the main thread; the compiler asks for a function for each of them (serve/admin.ts).
 *
 * No label holds anything of a request or of a recipient.
 *
 * @module
 */
import { errorTables } from '../errors.js'
import { operationNames } from '../interface/operation-names.js'

/** The kinds of threads that count. */
export type Role = 'main' | 'marks' | 'front' | 'clip' | 'query'

interface Described {
  readonly help: string
}

export interface Counted extends Described {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** The threads that write it. */
  readonly by: readonly Role[]
  /** How the values of several threads are joined; `thread` gives each a label of its own. */
  readonly across: 'sum' | 'max' | 'thread'
  /** Fixed values by name, in the order in which `slotOf` takes them. */
  readonly labels?: Readonly<Record<string, readonly string[]>>
  /** Upper bounds in ascending order, of a histogram. */
  readonly buckets?: readonly number[]
  /** Whether there is a value of these labels before there is anything to count; so it is where this is left out. */
  readonly isThereAtZero?: (labels: Readonly<Record<string, string>>) => boolean
}

export interface Reading extends Described {
  readonly type: 'counter' | 'gauge'
  readonly labels?: readonly string[]
}

/** The label of requests that call no operation, and of unexpected statuses. */
export const OTHER = 'other'
/** The status of a request without an answer. */
export const NO_STATUS = 'none'

export const stages = ['receive', 'parse', 'wait', 'select', 'write', 'total'] as const
export const lanes = ['small', 'large', 'rows'] as const
export const cutReasons = ['slow_reader', 'slow_watcher', 'late', 'unavailable', 'failure'] as const
export type CutReason = (typeof cutReasons)[number]
/** What is wrong with a key, or with what it asks for: see `src/http/authenticate.ts`. */
export const keyRefusals = [
  'missing',
  'unknown',
  'wrong',
  'expired',
  'revoked',
  'replaced',
  'slowed',
  'query',
  'scope',
  'rate',
] as const
export type KeyRefusal = (typeof keyRefusals)[number]
export const outlineOutcomes = ['done', 'TookTooLong', 'OutOfMemory', 'Failed', 'refused'] as const
const switchResults = ['done', 'refused'] as const
export const gcKinds = ['minor', 'major', 'incremental', 'weak'] as const

const statuses = new Set([101, 200, 204, 302, 304, ...Object.values(errorTables.serviceErrors)])
/** The statuses of answers. */
export const statusLabels = [...statuses].toSorted((a, b) => a - b).map(String)

/** From what a count takes to the longest lists. */
const REQUEST_SECONDS = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
  2.5, 5, 10, 30, 120,
]

/** Tasks are refused before they wait longer. */
const WAIT_SECONDS = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
  2.5, 10,
]

const FRONT = { by: ['front'], across: 'sum' } as const
/** Threads with an event loop that turns. A query worker sleeps and works outside of its own. */
const LOOPS = { by: ['main', 'marks', 'front'], across: 'thread' } as const
/** Those that tell how much memory their heaps take. */
const HEAPS = { by: ['main', 'marks', 'front', 'clip', 'query'], across: 'thread' } as const
const QUERY = { by: ['query'], across: 'thread' } as const
const MAIN = { by: ['main'], across: 'sum' } as const

export const counted = {
  hickory_requests_total: {
    ...FRONT,
    type: 'counter',
    help: 'Requests that are over, by operation and status of the answer. Statuses other than 200 and 5xx are there once they occurred.',
    // A rate does not see the first count of a series that was not there, so alerts need these.
    isThereAtZero: ({ status }) => status === '200' || status.startsWith('5'),
    labels: {
      operation: [...operationNames, OTHER],
      status: [...statusLabels, NO_STATUS, OTHER],
    },
  },
  hickory_refusals_total: {
    ...FRONT,
    type: 'counter',
    help: 'Requests that were answered with an error, by its code.',
    labels: { code: Object.keys(errorTables.serviceErrors) },
  },
  hickory_keys_refused_total: {
    ...FRONT,
    type: 'counter',
    help: 'Requests that were refused for their keys, by reason.',
    labels: { reason: keyRefusals },
  },
  hickory_answers_cut_total: {
    ...FRONT,
    type: 'counter',
    help: 'Answers that the service began and broke off, by reason.',
    labels: { reason: cutReasons },
  },
  hickory_clients_left_total: {
    ...FRONT,
    type: 'counter',
    help: 'Requests whose client closed the connection before the end of the answer.',
  },
  hickory_answer_seconds: {
    ...FRONT,
    type: 'histogram',
    help: 'What the service itself took until an answer began: parse, wait and select, by operation.',
    labels: { operation: [...operationNames, OTHER] },
    buckets: REQUEST_SECONDS,
  },
  hickory_request_stage_seconds: {
    ...FRONT,
    type: 'histogram',
    help: 'Time of requests by stage; receive and write depend on the client.',
    labels: { stage: stages },
    buckets: REQUEST_SECONDS,
  },
  hickory_request_body_bytes_total: {
    ...FRONT,
    type: 'counter',
    help: 'Bytes of the bodies of requests, as they arrived.',
  },
  hickory_answer_body_bytes_total: {
    ...FRONT,
    type: 'counter',
    help: 'Bytes of the bodies of answers, as they were sent.',
  },
  hickory_recipient_rows_total: {
    ...FRONT,
    type: 'counter',
    help: 'Recipients that were written into answers.',
  },
  hickory_open_requests: {
    ...FRONT,
    type: 'gauge',
    help: 'Requests that are not answered completely yet.',
  },
  hickory_connections: { ...FRONT, type: 'gauge', help: 'Connections of clients.' },
  hickory_connections_refused_total: {
    ...FRONT,
    type: 'counter',
    help: 'Connections that were closed as they came, since there were too many.',
  },
  hickory_held_body_bytes: {
    ...FRONT,
    type: 'gauge',
    help: 'Bytes of bodies of requests that have not arrived completely.',
  },
  hickory_tasks_waiting: {
    ...FRONT,
    type: 'gauge',
    help: 'Tasks of requests that wait for a query worker, by lane.',
    labels: { lane: lanes },
  },
  hickory_tasks_open: {
    ...FRONT,
    type: 'gauge',
    help: 'Tasks of requests that wait for a query worker or are with one, by lane.',
    labels: { lane: lanes },
  },
  hickory_oldest_task_seconds: {
    ...FRONT,
    across: 'max',
    type: 'gauge',
    help: 'How long the first task of a lane has waited for a query worker, of the front where that is longest.',
    labels: { lane: lanes },
  },
  hickory_task_wait_seconds: {
    ...FRONT,
    type: 'histogram',
    help: 'Time for which tasks waited for a query worker, by lane.',
    labels: { lane: lanes },
    buckets: WAIT_SECONDS,
  },
  hickory_query_workers: {
    ...FRONT,
    type: 'gauge',
    help: 'Query workers that take tasks; while snapshots are switched, those of both.',
  },
  hickory_query_worker_deaths_total: {
    ...FRONT,
    type: 'counter',
    help: 'Query workers that died and were replaced.',
  },
  hickory_task_failures_total: {
    ...FRONT,
    type: 'counter',
    help: 'Tasks that a query worker did not end, and that were run again or given up.',
  },
  hickory_query_worker_tasks_total: {
    ...QUERY,
    type: 'counter',
    help: 'Tasks that a query worker has done; small selections travel together in one.',
  },
  hickory_query_worker_busy_seconds_total: {
    ...QUERY,
    type: 'counter',
    help: 'Time that a query worker has spent on tasks.',
  },
  hickory_outlines_total: {
    ...FRONT,
    type: 'counter',
    help: 'Tasks of clipping threads, by outcome; one that takes too much ends its thread.',
    labels: { outcome: outlineOutcomes },
  },
  hickory_outlines_open: {
    ...FRONT,
    type: 'gauge',
    help: 'Tasks that wait for a clipping thread or are with one.',
  },
  hickory_watchers: {
    ...FRONT,
    type: 'gauge',
    help: 'Clients that watch contexts.',
  },
  hickory_watch_events_total: {
    ...FRONT,
    type: 'counter',
    help: 'Events for clients that watch contexts; of those for a slow client, only the newest is sent.',
  },
  hickory_mask_bytes: {
    ...FRONT,
    type: 'gauge',
    help: 'Memory of the masks of boundaries that are kept.',
  },
  hickory_event_loop_delay_seconds: {
    ...LOOPS,
    type: 'gauge',
    help: 'The longest time in the last half minute for which the event loop of a thread did not turn.',
  },
  hickory_gc_runs_total: {
    ...LOOPS,
    type: 'counter',
    help: 'Garbage collections, by kind.',
    labels: { kind: gcKinds },
  },
  hickory_gc_seconds_total: {
    ...LOOPS,
    type: 'counter',
    help: 'Time of garbage collections, by kind.',
    labels: { kind: gcKinds },
  },
  hickory_heap_used_bytes: {
    ...HEAPS,
    type: 'gauge',
    help: 'JavaScript heap that a thread uses, as it was when it last looked.',
  },
  hickory_heap_size_bytes: {
    ...HEAPS,
    type: 'gauge',
    help: 'JavaScript heap that a thread has taken from the system.',
  },
  hickory_snapshots_noticed_total: {
    ...MAIN,
    type: 'counter',
    help: 'New snapshots that imports and rollbacks made current, as they were noticed.',
  },
  hickory_snapshot_switches_total: {
    ...MAIN,
    type: 'counter',
    help: 'Attempts to switch to a new snapshot, by result.',
    labels: { result: switchResults },
  },
} as const satisfies Readonly<Record<string, Counted>>

/** The readings of a machine of a cluster, which a service of one machine does not have. */
export const clusterReadings = {
  hickory_cluster_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which machine of which cluster this is.',
    labels: ['cluster', 'machine'],
  },
  hickory_cluster_connected: {
    type: 'gauge',
    help: 'Whether this machine is connected to NATS: 1 if so, otherwise 0.',
  },
  hickory_cluster_writable: {
    type: 'gauge',
    help: 'Whether this machine can write: the log answers, its server proves that it syncs, and the journal takes it: 1 if so, otherwise 0.',
  },
  hickory_cluster_fault: {
    type: 'gauge',
    help: 'Whether this machine cannot go on with the log, or as a member: 1 if so, otherwise 0.',
  },
  hickory_cluster_log_messages: {
    type: 'gauge',
    help: 'Messages in the log; not there while JetStream does not answer, as with the two that follow.',
  },
  hickory_cluster_log_missing_messages: {
    type: 'gauge',
    help: 'Messages that the leading server of the log lacks between its first and its last one.',
  },
  hickory_cluster_log_copies: {
    type: 'gauge',
    help: 'Servers of NATS that keep the log.',
  },
  hickory_cluster_level: {
    type: 'gauge',
    help: 'Whether this machine has all that was acknowledged until a moment ago, and can prove it: 1 if so, otherwise 0.',
  },
  hickory_cluster_level_seconds: {
    type: 'gauge',
    help: 'For how long this machine stays level if it hears no more from the log; 0 where it is not.',
  },
  hickory_cluster_lag_seconds: {
    type: 'gauge',
    help: 'For how long this machine has not been level; 0 while it is.',
  },
  hickory_cluster_draining: {
    type: 'gauge',
    help: 'Whether an operator has this machine be not ready: 1 if so, otherwise 0.',
  },
  hickory_cluster_written_sequence: {
    type: 'gauge',
    help: 'The last batch in the journal of this machine.',
  },
  hickory_cluster_answered_sequence: {
    type: 'gauge',
    help: 'The last batch by which this machine answers, with what is suppressed and who has keys.',
  },
  hickory_cluster_behind_batches: {
    type: 'gauge',
    help: 'Batches that a machine has in its journal, and by which this one does not answer yet.',
  },
  hickory_cluster_held_shards: {
    type: 'gauge',
    help: 'Shards of the snapshot that this machine holds in memory: all of them without --copies.',
  },
  hickory_cluster_held_recipients: {
    type: 'gauge',
    help: 'Recipients of the snapshot that this machine holds in memory: all of them without --copies.',
  },
  hickory_cluster_members: {
    type: 'gauge',
    help: 'Machines that are members of the cluster.',
  },
  hickory_cluster_level_members: {
    type: 'gauge',
    help: 'Members that are level, as far as this machine hears.',
  },
} as const

export const readings = {
  hickory_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which release runs, on which release of Node.js.',
    labels: ['version', 'node'],
  },
  hickory_start_timestamp_seconds: {
    type: 'gauge',
    help: 'When the process started, in seconds since 1970.',
  },
  hickory_ready: {
    type: 'gauge',
    help: 'Whether the service answers requests: 1, or 0 while it starts or ends.',
  },
  hickory_snapshot_info: {
    type: 'gauge',
    help: 'Always 1; the label is the id of the snapshot that is served.',
    labels: ['snapshot'],
  },
  hickory_snapshot_created_timestamp_seconds: {
    type: 'gauge',
    help: 'When an import made the snapshot that is served, in seconds since 1970.',
  },
  hickory_snapshot_served_timestamp_seconds: {
    type: 'gauge',
    help: 'Since when the service answers from this snapshot, in seconds since 1970.',
  },
  hickory_snapshot_refused: {
    type: 'gauge',
    help: 'Whether CURRENT names a snapshot that cannot be served, or none: 1 if so, otherwise 0.',
  },
  hickory_source_recipients: {
    type: 'gauge',
    help: 'Recipients of a source, with those that are suppressed; the label is its id.',
    labels: ['source'],
  },
  hickory_source_contacts: {
    type: 'gauge',
    help: 'Contacts of a source, with those whose recipients are suppressed.',
    labels: ['source'],
  },
  hickory_source_suppressed_recipients: {
    type: 'gauge',
    help: 'Recipients of a source that are suppressed.',
    labels: ['source'],
  },
  hickory_suppression_version: {
    type: 'gauge',
    help: 'Version of the suppression lists in the store.',
  },
  hickory_suppression_taken_version: {
    type: 'gauge',
    help: 'Version of the suppression lists by which this service answers.',
  },
  hickory_suppressed_numbers: {
    type: 'gauge',
    help: 'Numbers on all suppression lists.',
  },
  hickory_journal_sequence: {
    type: 'gauge',
    help: 'The last batch of the journal of changes.',
  },
  hickory_sequence: {
    type: 'gauge',
    help: 'The last batch of the journal of changes that is in answers.',
  },
  hickory_changed_recipients: {
    type: 'gauge',
    help: 'Recipients that came to the served snapshot or went from it since it was made.',
  },
  ...clusterReadings,
  hickory_audit_lines_total: {
    type: 'counter',
    help: 'Lines of the audit since the start, by outcome; refused ones kept what waited for them from being done.',
    labels: ['outcome'],
  },
  hickory_audit_lines_waiting: {
    type: 'gauge',
    help: 'Lines of the audit that nobody waits for and that are not written yet.',
  },
  hickory_audit_failing: {
    type: 'gauge',
    help: 'Whether the last attempt to write to the audit failed: 1 if so, otherwise 0.',
  },
  hickory_audit_lag_seconds: {
    type: 'gauge',
    help: 'How long the last lines of the audit took to be on disk.',
  },
  hickory_log_dropped_lines_total: {
    type: 'counter',
    help: 'Lines of the log that were dropped, since standard error took none.',
  },
  hickory_access_log_dropped_lines_total: {
    type: 'counter',
    help: 'Lines of the access log that were dropped, since they found no room or the file took none.',
  },
  hickory_access_log_queued_bytes: {
    type: 'gauge',
    help: 'Bytes of the access log that are on their way to it.',
  },
  hickory_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When the certificate of the service expires, in seconds since 1970.',
  },
  hickory_audiences: { type: 'gauge', help: 'Audiences that have not expired.' },
  hickory_audience_bytes: { type: 'gauge', help: 'Bytes of the files of these audiences.' },
  hickory_contexts: { type: 'gauge', help: 'Stored map contexts.' },
  hickory_resident_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the process that is in RAM.',
  },
  hickory_memory_limit_bytes: {
    type: 'gauge',
    help: 'Memory that the process may have: the limit of its control group, or that of the machine.',
  },
  hickory_arena_bytes: {
    type: 'gauge',
    help: 'Address space of the arenas of snapshots; only touched pages of it take memory.',
  },
  hickory_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of the process, by mode.',
    labels: ['mode'],
  },
  hickory_data_free_bytes: {
    type: 'gauge',
    help: 'Free space of the file system with the data directory, as of the scrape before.',
  },
} as const satisfies Readonly<Record<string, Reading>>

export type CountedName = keyof typeof counted
export type ReadingName = keyof typeof readings
