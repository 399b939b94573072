/**
 * What the main thread knows of the cluster that the service is a machine of, for whoever asks how it fares: as metrics,
 * as tables and as JSON.
 *
 * @module
 */
import { type AdminRoute, plainAnswer } from '../admin/listener.js'
import type { StatusTable } from '../admin/status-page.js'
import { levelUntilMs, roleChangeCount } from '../cluster/figures.js'
import type { ClusterStatus } from '../cluster/messages.js'
import { behindCount, heldPart, roleOf } from '../cluster/status.js'
import type { clusterReadings } from '../metrics/cluster-readings.js'
import type { Readings } from '../metrics/exposition.js'
import { monotonicMs } from '../monotonic.js'
import type { Freshness } from '../selection/freshness.js'

export interface KnownCluster {
  /** See `src/cluster/figures.ts`. */
  readonly figures: Float64Array
  readonly freshness: Freshness
  /** As it was half a second ago at most; undefined before the machine is one of the cluster. */
  status(): ClusterStatus | undefined
}

type Known = () => KnownCluster | undefined

/** @param known  undefined on a machine of no cluster, and before it is known */
export function readingsOfCluster(known: Known): Pick<Readings, keyof typeof clusterReadings> {
  const ofStatus = (value: (status: ClusterStatus) => number | undefined) => () => {
    const status = known()?.status()
    return status && value(status)
  }
  const ofOwn = (value: (cluster: KnownCluster) => number) => () => {
    const cluster = known()
    return cluster && value(cluster)
  }
  const own = ({ machines: [machine] }: ClusterStatus) => machine
  const members = ({ machines }: ClusterStatus) => machines.filter(({ isMember }) => isMember)
  return {
    hickory_cluster_info: () => {
      const status = known()?.status()
      if (status === undefined) return undefined
      return [{ labels: { cluster: status.clusterId, machine: status.name }, value: 1 }]
    },
    hickory_cluster_connected: ofStatus(({ isConnected }) => oneIf(isConnected)),
    hickory_cluster_writing: ofStatus((status) => oneIf(own(status).isWriter)),
    hickory_cluster_writer_known: ofStatus(({ writer }) => oneIf(writer !== undefined)),
    hickory_cluster_epoch: ofStatus(({ epoch }) => epoch),
    hickory_cluster_role_changes_total: ofOwn(({ figures }) => roleChangeCount(figures)),
    hickory_cluster_level: ofOwn(({ freshness }) => oneIf(freshness.lagSeconds() === undefined)),
    hickory_cluster_level_seconds: ofOwn(
      ({ figures }) => Math.max(0, levelUntilMs(figures) - monotonicMs()) / 1_000,
    ),
    hickory_cluster_lag_seconds: ofOwn(({ freshness }) => freshness.lagSeconds() ?? 0),
    hickory_cluster_draining: ofOwn(({ freshness }) => oneIf(freshness.isDraining())),
    hickory_cluster_written_sequence: ofStatus((status) => own(status).written),
    hickory_cluster_committed_sequence: ofStatus(({ committed }) => committed),
    hickory_cluster_answered_sequence: ofStatus((status) => own(status).answersBy),
    hickory_cluster_behind_batches: ofStatus((status) => behindCount(own(status), status)),
    hickory_cluster_stream_sequence: ofStatus(({ carried }) => carried),
    hickory_cluster_held_shards: ofStatus((status) => own(status).held?.shardCount),
    hickory_cluster_held_recipients: ofStatus((status) => own(status).held?.recipientCount),
    hickory_cluster_members: ofStatus((status) => members(status).length),
    hickory_cluster_level_members: ofStatus(
      (status) => members(status).filter(({ isLevel }) => isLevel).length,
    ),
  }
}

const oneIf = (isSo: boolean) => (isSo ? 1 : 0)

/** None on a machine of no cluster. */
export function tablesOfCluster(known: Known): StatusTable[] {
  const cluster = known()
  const status = cluster?.status()
  if (cluster === undefined || status === undefined) return []
  const { clusterId, name, epoch, acks, writer, isConnected, committed, carried } = status
  const lagSeconds = cluster.freshness.lagSeconds()
  return [
    {
      title: 'Cluster',
      header: ['', ''],
      rows: [
        ['cluster', `${clusterId}, epoch ${epoch}, --acks ${acks === 'one' ? 1 : acks}`],
        ['this machine', name],
        ['level', lagSeconds === undefined ? 'yes' : `not for ${lagSeconds.toFixed(1)} s`],
        ['writer', writer ?? 'none that is known'],
        ['NATS', isConnected ? 'connected' : 'not connected'],
        ['committed', `up to batch ${committed}`],
        ...(carried === undefined ? [] : [['in the stream', `up to batch ${carried}`]]),
      ],
    },
    {
      title: 'Machines of the cluster',
      header: [
        ...['machine', 'role', 'level', 'written', 'answers by', 'behind'],
        ...['snapshot', 'holds', 'version', 'heard'],
      ],
      rows: status.machines.map((machine) => [
        machine.name,
        roleOf(machine),
        machine.isLevel ? 'yes' : 'no',
        machine.written,
        machine.answersBy,
        behindCount(machine, status),
        machine.snapshotId ?? '',
        heldPart(machine),
        machine.version,
        machine.silentMs === undefined
          ? 'never'
          : `${(machine.silentMs / 1_000).toFixed(1)} s before`,
      ]),
    },
  ]
}

/** The same as one JSON document; 404 on a machine of no cluster. */
export function clusterRoute(known: Known): AdminRoute {
  return () => {
    const cluster = known()
    if (cluster === undefined) return plainAnswer(404, 'this service is of no cluster')
    const status = cluster.status()
    if (status === undefined) return plainAnswer(503, 'the machine is not one of its cluster yet')
    const machines = status.machines.map((machine) => ({
      ...machine,
      role: roleOf(machine),
      behindCount: behindCount(machine, status),
    }))
    const lagSeconds = cluster.freshness.lagSeconds() ?? 0
    const body = JSON.stringify({ ...status, lagSeconds, machines })
    return { status: 200, contentType: 'application/json', body }
  }
}
