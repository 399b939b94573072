/**
 * What an operator says of a cluster.
 *
 * @module
 */
import { OperatorError } from './errors.js'
import {
  integer,
  integerIfGiven,
  matching,
  oneOf,
  pathIfGiven,
  type Setting,
  text,
} from './setting-values.js'

type ClusterSetting =
  | 'cluster'
  | 'name'
  | 'clusterTlsCa'
  | 'clusterTlsCert'
  | 'clusterTlsKey'
  | 'acks'
  | 'takeover'
  | 'clusterCredentials'
  | 'clusterNkey'
  | 'clusterId'
  | 'takeoverAfter'
  | 'maxLag'
  | 'laggingLists'
  | 'copies'

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
  /** Of this machine. */
  readonly name: string
  /** Whether a change is acknowledged when it is on the disk of the writer, or on most disks. */
  readonly acks: 'one' | 'majority'
  /** Whether this machine becomes the writer by itself. */
  readonly takesOver: boolean
  /** After so long nobody waits for a writer that is silent. */
  readonly silenceMs: number
  /** For so long a machine may answer that does not hear of the writer. */
  readonly maxLagMs: number
  /** Whether it refuses lists then. */
  readonly refusesLaggingLists: boolean
  /** How many machines hold each shard of the snapshots that this machine publishes; undefined where each holds all. */
  readonly copies: number | undefined
}

/** What stands in subjects of NATS, in tables and in logs. */
const CLUSTER_ID = /^[a-z0-9][a-z0-9_-]{0,31}$/
const MACHINE_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

/** @throws OperatorError  Usage */
export function clusterConfig(
  setting: (name: ClusterSetting) => Setting,
): ClusterConfig | undefined {
  const servers = setting('cluster')
  if (servers.value === undefined) {
    const without = setting('name')
    if (without.value === undefined) return undefined
    throw new OperatorError(
      'Usage',
      `${without.origin} is for a cluster: name its NATS with --cluster`,
    )
  }
  const tls = {
    authority: pathIfGiven(setting('clusterTlsCa')),
    certificate: pathIfGiven(setting('clusterTlsCert')),
    key: pathIfGiven(setting('clusterTlsKey')),
  }
  const name = setting('name')
  if (name.value === undefined) {
    throw new OperatorError(
      'Usage',
      '--cluster needs --name: what this machine is called, such as site-a',
    )
  }
  const acks = oneOf(setting('acks'), ['1', 'majority'])
  const takeover = oneOf(setting('takeover'), ['auto', 'command'])
  const isTakeoverGiven = setting('takeover').origin !== 'the default of takeover'
  if (acks === '1' && takeover === 'auto' && isTakeoverGiven) {
    throw new OperatorError(
      'Usage',
      '--takeover auto needs --acks majority: with --acks 1 no other machine can know that it has all that was ' +
        'acknowledged',
    )
  }
  return {
    nats: {
      servers: natsServers(servers),
      credentials: pathIfGiven(setting('clusterCredentials')),
      nkey: pathIfGiven(setting('clusterNkey')),
      tls: Object.values(tls).some((path) => path !== undefined) ? tls : undefined,
    },
    clusterId: matching(
      setting('clusterId'),
      CLUSTER_ID,
      '1 to 32 of a-z, 0-9, _ and -, such as alerts',
    ),
    name: matching(name, MACHINE_NAME, '1 to 32 of a-z, 0-9 and -, such as site-a'),
    acks: acks === '1' ? 'one' : 'majority',
    takesOver: takeover === 'auto' && acks === 'majority',
    silenceMs: 1_000 * integer(setting('takeoverAfter'), 1, 3_600),
    maxLagMs: 1_000 * integer(setting('maxLag'), 1, 86_400),
    refusesLaggingLists: oneOf(setting('laggingLists'), ['serve', 'refuse']) === 'refuse',
    copies: integerIfGiven(setting('copies'), 2, 100),
  }
}

/** Separated by commas. */
function natsServers(setting: Setting): readonly string[] {
  const named = text(setting)
    .split(',')
    .map((item) => item.trim())
  for (const item of named) {
    if (/^(nats|tls):\/\/[^\s/@]+$/.test(item)) continue
    throw new OperatorError(
      'Usage',
      `${setting.origin} must be addresses of NATS such as nats://10.0.0.1:4222, separated by commas, without names ` +
        `and passwords, not ${JSON.stringify(item)}`,
    )
  }
  return named
}
