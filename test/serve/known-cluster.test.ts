import t from 'tap'
import { createFigures, writeFigures } from '../../src/cluster/figures.js'
import type { ClusterStatus } from '../../src/cluster/messages.js'
import { clusterReadings } from '../../src/metrics/table.js'
import { monotonicMs } from '../../src/monotonic.js'
import { type KnownCluster, readingsOfCluster } from '../../src/serve/known-cluster.js'
import { machineOf, statusOf } from '../support/data/cluster-status.js'

type Readings = ReturnType<typeof readingsOfCluster>

const held = { shardCount: 2, recipientCount: 1_999, ofShardCount: 3, ofRecipientCount: 3_000 }
const status = statusOf(
  [
    machineOf('site-b', { held, written: 89, answersBy: 85, silentMs: 0 }),
    machineOf('site-a', { fault: 'there is no log' }),
    machineOf('site-c', { isLevel: false, isDraining: true, silentMs: undefined }),
    machineOf('site-d', { isMember: false, snapshotId: undefined }),
  ],
  {
    clusterId: 'county',
    log: {
      generation: '0123456789abcdef',
      messageCount: 700,
      missingCount: 2,
      copyCount: 3,
      server: 'nats-a',
    },
  },
)

function known(changed: Partial<ClusterStatus> = {}, lagSeconds?: number): KnownCluster {
  const figures = createFigures()
  const levelUntilMs = monotonicMs() + (lagSeconds === undefined ? 60_000 : -1)
  writeFigures(figures, { levelUntilMs, isDraining: false, answeredSequence: 0 })
  return {
    figures,
    freshness: { lagSeconds: () => lagSeconds, refusesLists: false, isDraining: () => false },
    status: () => ({ ...status, ...changed }),
  }
}

const names = Object.keys(clusterReadings) as (keyof Readings)[]

t.test('metrics of a machine say what it knows', async (t) => {
  const read = readingsOfCluster(() => known())
  const { hickory_cluster_level_seconds: levelSeconds, ...others } = Object.fromEntries(
    names.map((name) => [name, read[name]()]),
  )
  t.same(others, {
    hickory_cluster_info: [{ labels: { cluster: 'county', machine: 'site-b' }, value: 1 }],
    hickory_cluster_connected: 1,
    hickory_cluster_writable: 1,
    hickory_cluster_fault: 0,
    hickory_cluster_log_messages: 700,
    hickory_cluster_log_missing_messages: 2,
    hickory_cluster_log_copies: 3,
    hickory_cluster_level: 1,
    hickory_cluster_lag_seconds: 0,
    hickory_cluster_draining: 0,
    hickory_cluster_written_sequence: 89,
    hickory_cluster_answered_sequence: 85,
    // By what another machine tells.
    hickory_cluster_behind_batches: 5,
    hickory_cluster_held_shards: 2,
    hickory_cluster_held_recipients: 1_999,
    hickory_cluster_members: 3,
    hickory_cluster_level_members: 2,
  })
  t.ok(Number(levelSeconds) > 0 && Number(levelSeconds) <= 60)
})

t.test('metrics of a machine that is cut off say so', async (t) => {
  const machines = [machineOf('site-b', { fault: 'there is no log' })]
  const changed = { isConnected: false, doubt: 'the log does not answer', log: undefined, machines }
  const read = readingsOfCluster(() => known(changed, 7))
  t.equal(read.hickory_cluster_connected(), 0)
  t.equal(read.hickory_cluster_writable(), 0)
  t.equal(read.hickory_cluster_fault(), 1)
  t.equal(read.hickory_cluster_log_messages(), undefined)
  t.equal(read.hickory_cluster_level(), 0)
  t.equal(read.hickory_cluster_level_seconds(), 0)
  t.equal(read.hickory_cluster_lag_seconds(), 7)
})

t.test('a machine whose server of NATS may not sync cannot write', async (t) => {
  const read = readingsOfCluster(() => known({ doubt: 'nats-server nats-a must sync' }))
  t.equal(read.hickory_cluster_writable(), 0)
  t.equal(read.hickory_cluster_connected(), 1)
})

t.test('a machine of no cluster has none of these metrics', async (t) => {
  const read = readingsOfCluster(() => undefined)
  for (const name of names) t.equal(read[name](), undefined, name)
})

t.test('a machine that waits for its cluster has what is known without it', async (t) => {
  const waiting = { ...known({}, 3), status: () => undefined }
  const read = readingsOfCluster(() => waiting)
  t.equal(read.hickory_cluster_level(), 0)
  t.equal(read.hickory_cluster_lag_seconds(), 3)
  t.equal(read.hickory_cluster_members(), undefined)
})
