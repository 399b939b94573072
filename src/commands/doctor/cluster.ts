/**
 * The check of `hickory doctor` that looks at what a directory remembers of a cluster. It changes nothing.
 *
 * @module
 */
import { isTailLost } from '../../cluster/lost-tail.js'
import { type ClusterState, readState, readTail, StateDamaged } from '../../cluster/state-file.js'
import { hasAgreedPart } from '../../journal/agreed-part.js'
import { journalDirectory } from '../../journal/files.js'
import { type Finding, failed, ok, warning } from './check.js'

export function lookAtCluster(dataDirectory: string): Finding {
  let state: ClusterState | undefined
  try {
    state = readState(dataDirectory)
  } catch (fault) {
    if (!(fault instanceof StateDamaged)) throw fault
    return warning(fault.message, BEGINS)
  }
  const isClustered = hasAgreedPart(journalDirectory(dataDirectory))
  if (state === undefined) return isClustered ? failed(STATE_GONE, BEGIN_ANEW) : ok('of none')
  const { clusterId, name, epoch, beginsAnew } = state
  const who = `${name} of the cluster ${clusterId}`
  if (beginsAnew !== undefined) return warning(`${who}, to begin anew (${beginsAnew})`, BEGINS)
  if (!isClustered) return failed(`${who}, but the journal is of no cluster`, BEGIN_ANEW)
  if (isTailLost(dataDirectory)) {
    return failed(`${who}, but cluster/tail.json is lost: nobody here knows the members`, BEGINS)
  }
  const { members } = readTail(dataDirectory)
  const names = members.map((member) => member.name).join(', ')
  return ok(`${who}, epoch ${epoch}${names === '' ? '' : `, with the members ${names}`}`)
}

const BEGINS =
  'start the service while another machine of the cluster runs: it begins with what that has'

const STATE_GONE = 'the journal is of a cluster, and cluster/state.json is gone'

const BEGIN_ANEW =
  'empty the directory, so that the machine begins with what the others have, or make it one of no cluster with ' +
  '`hickory cluster leave`'
