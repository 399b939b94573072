/**
 * What an operator says of a cluster.
 *
 * @module
 */
import { OperatorError } from './errors.js'
import type { Settings } from './settings.js'

export interface ClusterConfig {
  /** How NATS is reached; files are absolute. */
  readonly nats: {
    readonly servers: readonly string[]
    readonly credentials: string | undefined
    readonly nkey: string | undefined
    readonly tls:
      | {
          readonly authority: string | undefined
          readonly certificate: string | undefined
          readonly key: string | undefined
        }
      | undefined
  }
  readonly clusterId: string
  /** The name of this machine. */
  readonly name: string
  /** Monitors of the servers of NATS, which say whether these sync what they acknowledge. */
  readonly natsMonitors: readonly string[]
  /** For so long a machine may answer that does not hear from the log. */
  readonly maxLagMs: number
  /** Whether it refuses lists then. */
  readonly refusesLaggingLists: boolean
  /** How many machines hold each shard of the snapshots that this machine publishes; undefined where each holds all. */
  readonly copies: number | undefined
}

/**
 * How the cluster is reached; undefined without one.
 *
 * @throws OperatorError  Usage
 */
export function clusterConnection({
  values,
}: Settings): Pick<ClusterConfig, 'nats' | 'clusterId'> | undefined {
  const { cluster: servers, clusterId, clusterCredentials: credentials, clusterNkey: nkey } = values
  if (servers === undefined) return undefined
  if (credentials !== undefined && nkey !== undefined) {
    throw new OperatorError(
      'Usage',
      '--cluster-credentials and --cluster-nkey contradict each other: NATS knows this machine by one of them',
    )
  }
  const tls = {
    authority: values.clusterTlsCa,
    certificate: values.clusterTlsCert,
    key: values.clusterTlsKey,
  }
  const isTls = Object.values(tls).some((path) => path !== undefined)
  return { nats: { servers, credentials, nkey, tls: isTls ? tls : undefined }, clusterId }
}

/** @throws OperatorError  Usage */
export function clusterConfig(settings: Settings): ClusterConfig | undefined {
  const connection = clusterConnection(settings)
  if (connection === undefined) return undefined
  const { values } = settings
  const { name } = values
  if (name === undefined) {
    throw new OperatorError(
      'Usage',
      '--cluster needs --name: what this machine is called, such as site-a',
    )
  }
  return {
    ...connection,
    name,
    natsMonitors: values.natsMonitor,
    maxLagMs: 1_000 * values.maxLag,
    refusesLaggingLists: values.laggingLists === 'refuse',
    copies: values.copies,
  }
}
