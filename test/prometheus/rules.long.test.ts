/**
 * Each alert comes for the series that it is there for, not before its time, and not for others.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryDirectory } from '../support/service/hickory.js'
import { promtool, RULES } from './tools.js'

/** By their names with labels. */
type Series = Readonly<Record<string, string>>

/** Of one instance. `values` are in the notation of promtool: start+step x count, one a minute. */
interface Case {
  readonly severity: 'critical' | 'warning'
  readonly alarming: Series
  /** Several are tried one after the other. */
  readonly quiet: Series | readonly Series[]
  /** Minutes after which it is there, and minutes after which it is not yet. */
  readonly atMinutes: number
  readonly notYetMinutes?: number
  /** Beside job and instance. */
  readonly labels?: Readonly<Record<string, string>>
}

const requests = (status: string) =>
  `hickory_requests_total{operation="RecipientRequest",status="${status}"}`
const bucket = (le: string) =>
  `hickory_answer_seconds_bucket{operation="RecipientRequest",le="${le}"}`
const constant = (value: number) => `${value}x120`
const growing = (perMinute: number) => `0+${perMinute}x120`

const cases: Readonly<Record<string, Case>> = {
  HickoryDown: {
    severity: 'critical',
    alarming: { up: constant(0) },
    quiet: { up: constant(1) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryNotReady: {
    severity: 'critical',
    alarming: { hickory_ready: constant(0) },
    quiet: { hickory_ready: constant(1) },
    notYetMinutes: 4,
    atMinutes: 6,
  },
  HickoryServerErrors: {
    severity: 'critical',
    alarming: { [requests('200')]: growing(1_000), [requests('500')]: growing(2) },
    quiet: {
      [requests('200')]: growing(10_000),
      [requests('500')]: growing(2),
      [requests('503')]: growing(1_000),
    },
    notYetMinutes: 1,
    atMinutes: 10,
  },
  HickoryShedding: {
    severity: 'critical',
    alarming: { [requests('200')]: growing(1_000), [requests('503')]: growing(20) },
    quiet: { [requests('200')]: growing(10_000), [requests('503')]: growing(20) },
    notYetMinutes: 4,
    atMinutes: 10,
  },
  HickorySlow: {
    severity: 'warning',
    alarming: {
      [bucket('0.5')]: growing(90),
      [bucket('1')]: growing(100),
      [bucket('+Inf')]: growing(100),
    },
    quiet: {
      [bucket('0.25')]: growing(999),
      [bucket('0.5')]: growing(1_000),
      [bucket('+Inf')]: growing(1_000),
    },
    notYetMinutes: 9,
    atMinutes: 20,
  },
  HickoryAnswersCut: {
    severity: 'warning',
    alarming: { 'hickory_answers_cut_total{reason="late"}': growing(2) },
    quiet: { 'hickory_answers_cut_total{reason="slow_reader"}': growing(100) },
    atMinutes: 12,
  },
  HickoryDataOld: {
    severity: 'warning',
    // In the tests of promtool, time begins with 0.
    alarming: {
      hickory_snapshot_created_timestamp_seconds: constant(-40 * 3_600),
      hickory_journal_sequence: constant(8),
    },
    quiet: [
      { hickory_snapshot_created_timestamp_seconds: constant(-30 * 3_600) },
      {
        hickory_snapshot_created_timestamp_seconds: constant(-40 * 3_600),
        hickory_journal_sequence: growing(1),
      },
    ],
    notYetMinutes: 9,
    atMinutes: 11,
  },
  HickorySnapshotRefused: {
    severity: 'critical',
    alarming: { hickory_snapshot_refused: constant(1) },
    quiet: { hickory_snapshot_refused: constant(0) },
    notYetMinutes: 1,
    atMinutes: 3,
  },
  HickorySuppressionsBehind: {
    severity: 'critical',
    alarming: {
      hickory_suppression_version: constant(8),
      hickory_suppression_taken_version: constant(7),
    },
    quiet: {
      hickory_suppression_version: constant(8),
      hickory_suppression_taken_version: constant(8),
    },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryChangesBehind: {
    severity: 'critical',
    alarming: { hickory_journal_sequence: constant(8), hickory_sequence: constant(7) },
    quiet: { hickory_journal_sequence: constant(8), hickory_sequence: constant(8) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryQueryWorkersDie: {
    severity: 'warning',
    alarming: { hickory_query_worker_deaths_total: growing(1) },
    quiet: { hickory_query_worker_deaths_total: constant(100) },
    atMinutes: 12,
  },
  HickoryEventLoopBlocked: {
    severity: 'warning',
    alarming: { 'hickory_event_loop_delay_seconds{thread="front-1"}': constant(1) },
    quiet: {
      'hickory_event_loop_delay_seconds{thread="front-1"}': constant(0.4),
      'hickory_event_loop_delay_seconds{thread="marks"}': constant(9),
    },
    notYetMinutes: 1,
    atMinutes: 3,
    labels: { thread: 'front-1' },
  },
  HickoryMemoryNearLimit: {
    severity: 'warning',
    alarming: {
      hickory_resident_memory_bytes: constant(95),
      hickory_memory_limit_bytes: constant(100),
    },
    quiet: {
      hickory_resident_memory_bytes: constant(85),
      hickory_memory_limit_bytes: constant(100),
    },
    notYetMinutes: 4,
    atMinutes: 6,
  },
  HickoryDiskNearlyFull: {
    severity: 'warning',
    alarming: { hickory_data_free_bytes: constant(1e9) },
    quiet: { hickory_data_free_bytes: constant(3e9) },
    notYetMinutes: 9,
    atMinutes: 11,
  },
  HickoryAuditFailing: {
    severity: 'critical',
    alarming: { hickory_audit_failing: constant(1) },
    quiet: { hickory_audit_failing: constant(0) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryAuditLinesLost: {
    severity: 'critical',
    alarming: { 'hickory_audit_lines_total{outcome="lost"}': growing(1) },
    quiet: {
      'hickory_audit_lines_total{outcome="lost"}': constant(7),
      'hickory_audit_lines_total{outcome="written"}': growing(100),
    },
    atMinutes: 5,
    labels: { outcome: 'lost' },
  },
  HickoryAccessLogDropped: {
    severity: 'warning',
    alarming: { hickory_access_log_dropped_lines_total: growing(1) },
    quiet: { hickory_access_log_dropped_lines_total: constant(7) },
    atMinutes: 5,
  },
  HickoryLogDropped: {
    severity: 'warning',
    alarming: { hickory_log_dropped_lines_total: growing(1) },
    quiet: { hickory_log_dropped_lines_total: constant(7) },
    atMinutes: 5,
  },
  HickoryKeysRefused: {
    severity: 'warning',
    alarming: { 'hickory_keys_refused_total{reason="unknown"}': growing(90) },
    quiet: { 'hickory_keys_refused_total{reason="unknown"}': growing(30) },
    notYetMinutes: 9,
    atMinutes: 20,
  },
  HickoryCertificateExpires: {
    severity: 'warning',
    alarming: { hickory_certificate_expiry_timestamp_seconds: constant(10 * 86_400) },
    quiet: { hickory_certificate_expiry_timestamp_seconds: constant(20 * 86_400) },
    notYetMinutes: 50,
    atMinutes: 70,
  },
  HickoryNotLevel: {
    severity: 'critical',
    alarming: { hickory_cluster_level: constant(0) },
    quiet: { hickory_cluster_level: constant(1) },
    notYetMinutes: 1,
    atMinutes: 3,
  },
  HickoryCannotWrite: {
    severity: 'critical',
    alarming: { hickory_cluster_writable: constant(0) },
    quiet: { hickory_cluster_writable: constant(1) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryClusterFault: {
    severity: 'critical',
    alarming: { hickory_cluster_fault: constant(1) },
    quiet: { hickory_cluster_fault: constant(0) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryLogDamaged: {
    severity: 'critical',
    alarming: { hickory_cluster_log_missing_messages: constant(1) },
    quiet: { hickory_cluster_log_missing_messages: constant(0) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
  HickoryClusterBehind: {
    severity: 'critical',
    alarming: {
      // Slower than what comes.
      hickory_cluster_answered_sequence: '100+50x120',
      hickory_cluster_behind_batches: '60+30x120',
    },
    quiet: {
      hickory_cluster_answered_sequence: '100+50x120',
      hickory_cluster_behind_batches: constant(49),
    },
    notYetMinutes: 1,
    atMinutes: 3,
  },
  HickoryNatsUnreachable: {
    severity: 'critical',
    alarming: { hickory_cluster_connected: constant(0) },
    quiet: { hickory_cluster_connected: constant(1) },
    notYetMinutes: 0,
    atMinutes: 2,
  },
}

const text = readFileSync(RULES, 'utf8')
const summaries = new Map(
  text
    .split('- alert: ')
    .slice(1)
    .map((rule) => [rule.slice(0, rule.indexOf('\n')), /summary: '(.*)' \}/.exec(rule)?.[1] ?? '']),
)

t.test('the rules are valid', async (t) => {
  const { code, output } = promtool(['check', 'rules', RULES])
  t.equal(code, 0, output)
})

t.test('every alert has a case', async (t) => {
  t.same([...summaries.keys()], Object.keys(cases))
})

t.test('the page says of each alert what to do', async (t) => {
  const page = readFileSync(new URL('../../../docs/operations/metrics.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(Hickory\w+)` \|/gm)].map(([, name]) => name)
  t.same(rows, Object.keys(cases))
})

for (const [
  name,
  { severity, alarming, quiet, atMinutes, notYetMinutes, labels },
] of Object.entries(cases)) {
  t.test(`${name} comes when it should`, async (t) => {
    const at = (minutes: number, isThere: boolean) => ({
      eval_time: `${minutes}m`,
      alertname: name,
      exp_alerts: isThere ? [alertOf(name, severity, labels)] : [],
    })
    const tests = [
      {
        interval: '1m',
        input_series: seriesOf(alarming),
        alert_rule_test: [
          ...(notYetMinutes === undefined ? [] : [at(notYetMinutes, false)]),
          at(atMinutes, true),
        ],
      },
      ...[quiet].flat().map((series) => ({
        interval: '1m',
        input_series: seriesOf(series),
        alert_rule_test: [at(atMinutes, false), at(100, false)],
      })),
    ]
    const path = join(temporaryDirectory(t), 'tests.yml')
    writeFileSync(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
    const { code, output } = promtool(['test', 'rules', path])
    t.equal(code, 0, output)
    // The test of the test: nothing is there of which it is said that it is not.
    const wrong = [{ ...tests[0], alert_rule_test: [at(atMinutes, false)] }]
    writeFileSync(
      path,
      JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: wrong }),
    )
    t.not(promtool(['test', 'rules', path]).code, 0)
  })
}

const OWN = { job: 'hickory', instance: 'one:9464' }

function seriesOf(series: Series) {
  const own = Object.entries(OWN)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')
  return Object.entries(series).map(([name, values]) => ({
    series: name.endsWith('}') ? `${name.slice(0, -1)},${own}}` : `${name}{${own}}`,
    values,
  }))
}

function alertOf(name: string, severity: string, labels: Case['labels'] = {}) {
  const all: Record<string, string> = { ...OWN, ...labels }
  const summary = summaries
    .get(name)
    ?.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => all[label])
  return { exp_labels: { ...all, severity }, exp_annotations: { summary } }
}
