/**
 * Whether a snapshot that is made in a data directory becomes that of all machines of its cluster.
 *
 * @module
 */
import { openClusterClient } from '../../cluster/client.js'
import { readConnection } from '../../cluster/connection-file.js'
import { readState } from '../../cluster/state-file.js'
import { OperatorError } from '../../errors.js'
import { warn } from '../output.js'
import { writerOf } from './roles.js'

/**
 * To be called before the work. On a machine that does not write, what is current is what the others serve, whatever a
 * command has made of it.
 *
 * @throws OperatorError  as a rejection: Usage, naming the machine that writes; Failed, where nobody knows it
 */
export async function assertWrites(dataDirectory: string): Promise<void> {
  const state = readState(dataDirectory)
  if (state === undefined) return
  const { name, clusterId } = state
  const known = readConnection(dataDirectory)
  if (known === undefined) throw unknownWriter(dataDirectory, clusterId)
  const client = await openClusterClient(known)
  try {
    const writer = writerOf(await client.reports())
    if (writer === name) return
    if (writer === undefined) throw unknownWriter(dataDirectory, clusterId)
    throw new OperatorError(
      'Usage',
      `${dataDirectory} is that of ${name} in the cluster ${clusterId}, and ${writer} writes: run the command there, or ` +
        `let ${name} write with \`hickory cluster promote ${name}\``,
    )
  } finally {
    await client.close()
  }
}

/**
 * To be called after the work, which may take so long that another machine has begun to write. Where nobody is heard, this
 * one announces what it has as soon as it writes again.
 *
 * @throws OperatorError  as a rejection: Failed, where another machine writes
 */
export async function assertStillWrites(dataDirectory: string): Promise<void> {
  try {
    await assertWrites(dataDirectory)
  } catch (fault) {
    const { code, message } = fault as OperatorError
    if (code !== 'Usage')
      return warn(`it is not known whether machines take the snapshot: ${message}`)
    throw new OperatorError(
      'Failed',
      `the snapshot is in ${dataDirectory}, but machines may go on with what they had: ${message}`,
      { cause: fault },
    )
  }
}

function unknownWriter(dataDirectory: string, clusterId: string): OperatorError {
  return new OperatorError(
    'Failed',
    `${dataDirectory} is of the cluster ${clusterId}, of which no machine is heard that writes: \`hickory cluster ` +
      'status` says more',
  )
}
