/**
 * The checks of `hickory doctor` that look at what a directory remembers of a cluster, and at the server of NATS that its
 * service uses. They change nothing.
 *
 * @module
 */
import { openClusterClient } from '../../cluster/client.js'
import { connectedServer, syncDoubt } from '../../cluster/nats/sync-proof.js'
import {
  type ClusterState,
  readConnection,
  readFacts,
  readState,
  StateDamaged,
} from '../../cluster/state-file.js'
import { OperatorError } from '../../errors.js'
import { journalDirectory } from '../../journal/files.js'
import { isClusterJournal } from '../../journal/reader.js'
import { type Finding, failed, ok, warning } from './check.js'

export function lookAtCluster(dataDirectory: string): Finding {
  let state: ClusterState | undefined
  try {
    state = readState(dataDirectory)
  } catch (fault) {
    if (!(fault instanceof StateDamaged)) throw fault
    return warning(fault.message, BEGINS)
  }
  const isClustered = isClusterJournal(journalDirectory(dataDirectory))
  if (state === undefined) return isClustered ? failed(STATE_GONE, BEGIN_ANEW) : ok('of none')
  const { clusterId, name, beginsAnew } = state
  const who = `${name} of the cluster ${clusterId}`
  if (beginsAnew !== undefined) return warning(`${who}, to begin anew (${beginsAnew})`, BEGINS)
  if (!isClustered) return failed(`${who}, but the journal is of no cluster`, BEGIN_ANEW)
  const names = readFacts(dataDirectory).members.map((member) => member.name)
  return ok(names.length === 0 ? who : `${who}, with the members ${names.join(', ')}`)
}

const BEGINS =
  'start the service while another machine of the cluster runs: it begins with what that has'

const STATE_GONE = 'the journal is of a cluster, and cluster/state.json is gone'

const BEGIN_ANEW =
  'empty the directory, so that the machine begins with what the others have, or make it one of no cluster with ' +
  '`hickory cluster leave`'

/** By a connection of its own, which may be to another server than that of the service. */
export async function lookAtNats(dataDirectory: string): Promise<Finding> {
  const known = readConnection(dataDirectory)
  if (known === undefined) return ok('not known yet: no service has run')
  try {
    const client = await openClusterClient(known, 'machine')
    try {
      const server = connectedServer(client.connection)
      if (server === undefined) return warning('the connection to NATS is lost', START)
      const doubt = await syncDoubt(server, known.natsMonitors)
      if (doubt !== undefined)
        return failed(doubt, 'until then the machine reads, and writes nothing')
      return ok(`nats-server ${server.server_name} ${server.version} syncs what it acknowledges`)
    } finally {
      await client.close()
    }
  } catch (fault) {
    if (fault instanceof OperatorError) return warning(fault.message, START)
    throw fault
  }
}

const START = 'start nats-server, or correct how the service reaches it'
