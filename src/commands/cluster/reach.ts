/**
 * How a command reaches a cluster.
 *
 * @module
 */
import { type ClusterClient, openClusterClient } from '../../cluster/client.js'
import { type KnownConnection, readConnection } from '../../cluster/connection-file.js'
import { readClusterConnection } from '../../config.js'
import { OperatorError } from '../../errors.js'
import type { CommandContext } from '../context.js'

export interface ClusterFlags {
  readonly data?: string
  readonly cluster?: string
  readonly clusterId?: string
  readonly clusterCredentials?: string
  readonly clusterNkey?: string
  readonly clusterTlsCa?: string
  readonly clusterTlsCert?: string
  readonly clusterTlsKey?: string
}

/**
 * @param use  gets the name of the machine of the data directory, where that says how the cluster is reached
 * @throws OperatorError
 */
export async function withCluster(
  context: CommandContext,
  flags: ClusterFlags,
  use: (client: ClusterClient, own: string | undefined) => Promise<void>,
): Promise<void> {
  const connection = connectionOf(context, flags)
  const client = await openClusterClient(connection)
  try {
    await use(client, connection.name)
  } finally {
    await client.close()
  }
}

function connectionOf(
  context: CommandContext,
  { data, ...flags }: ClusterFlags,
): Pick<KnownConnection, 'nats' | 'clusterId'> & { readonly name?: string } {
  const named = readClusterConnection(flags)
  if (named !== undefined) return named
  const dataDirectory = context.dataDirectory(data)
  const known = readConnection(dataDirectory)
  if (known !== undefined) return known
  throw new OperatorError(
    'Usage',
    `no service of a cluster has run on ${dataDirectory}: name the data directory of one with --data, or NATS with ` +
      '--cluster nats://…',
  )
}
