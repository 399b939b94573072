/**
 * How the cluster of a data directory is reached: noted by its service, for commands, as
 *
 *   cluster/connection.json   addresses of NATS and names of files; nothing secret
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type from '#typebox'
import { createDirectory, replaceFile } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { validatorOf } from '../validator.js'
import { clusterDirectory } from './directory.js'
import type { ClusterSettings } from './messages.js'
import type { NatsSettings } from './nats/connection.js'

const File = Type.Optional(Type.String())

const ConnectionSchema = Type.Object({
  clusterId: Type.String(),
  /** Of the machine. */
  name: Type.String(),
  nats: Type.Object({
    servers: Type.Array(Type.String()),
    credentials: File,
    nkey: File,
    tls: Type.Optional(Type.Object({ authority: File, certificate: File, key: File })),
  }),
  natsMonitors: Type.Array(Type.String()),
})

export interface KnownConnection {
  readonly clusterId: string
  readonly name: string
  readonly nats: NatsSettings
  readonly natsMonitors: readonly string[]
}

const validator = validatorOf(ConnectionSchema)

const connectionPath = (dataDirectory: string) =>
  join(clusterDirectory(dataDirectory), 'connection.json')

export async function noteConnection(
  dataDirectory: string,
  { clusterId, name, nats, natsMonitors }: ClusterSettings,
): Promise<void> {
  await createDirectory(clusterDirectory(dataDirectory))
  const known: KnownConnection = { clusterId, name, nats, natsMonitors }
  const content = JSON.stringify(known, null, 2)
  await replaceFile(connectionPath(dataDirectory), `${content}\n`)
}

/**
 * @returns undefined where no service of a cluster has run on the directory
 * @throws OperatorError  Failed, where it cannot be read
 */
export function readConnection(dataDirectory: string): KnownConnection | undefined {
  const path = connectionPath(dataDirectory)
  if (!existsSync(path)) return undefined
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (validator.Check(value)) return value
  } catch (fault) {
    if (!(fault instanceof SyntaxError)) throw unreadable(path, fault)
  }
  throw unreadable(path)
}

function unreadable(path: string, cause?: unknown): OperatorError {
  return new OperatorError(
    'Failed',
    `${path} cannot be read: start the service, which writes it anew, or say --cluster nats://…`,
    { cause },
  )
}
