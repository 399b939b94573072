/**
 * The cluster that the service is a machine of, as the main thread knows it, and its metrics.
 *
 * @module
 */
import { levelUntilMs } from '../cluster/figures.js'
import type { ClusterStatus } from '../cluster/messages.js'
import { behindCount } from '../cluster/status.js'
import type { Readings } from '../metrics/exposition.js'
import type { clusterReadings } from '../metrics/table.js'
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
    hickory_cluster_writable: ofStatus(({ doubt }) => oneIf(doubt === undefined)),
    hickory_cluster_fault: ofStatus((status) => oneIf(own(status).fault !== undefined)),
    hickory_cluster_log_messages: ofStatus(({ log }) => log?.messageCount),
    hickory_cluster_log_missing_messages: ofStatus(({ log }) => log?.missingCount),
    hickory_cluster_log_copies: ofStatus(({ log }) => log?.copyCount),
    hickory_cluster_level: ofOwn(({ freshness }) => oneIf(freshness.lagSeconds() === undefined)),
    hickory_cluster_level_seconds: ofOwn(
      ({ figures }) => Math.max(0, levelUntilMs(figures) - monotonicMs()) / 1_000,
    ),
    hickory_cluster_lag_seconds: ofOwn(({ freshness }) => freshness.lagSeconds() ?? 0),
    hickory_cluster_draining: ofOwn(({ freshness }) => oneIf(freshness.isDraining())),
    hickory_cluster_written_sequence: ofStatus((status) => own(status).written),
    hickory_cluster_answered_sequence: ofStatus((status) => own(status).answersBy),
    hickory_cluster_behind_batches: ofStatus((status) => behindCount(own(status), status)),
    hickory_cluster_held_shards: ofStatus((status) => own(status).held?.shardCount),
    hickory_cluster_held_recipients: ofStatus((status) => own(status).held?.recipientCount),
    hickory_cluster_members: ofStatus((status) => members(status).length),
    hickory_cluster_level_members: ofStatus(
      (status) => members(status).filter(({ isLevel }) => isLevel).length,
    ),
  }
}

const oneIf = (isSo: boolean) => (isSo ? 1 : 0)
