/**
 * Whether the changes of a table can be read, and go on where they were read last.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { appliedSequenceOf } from '../snapshot/applied-sequence.js'
import { readCurrent } from '../snapshot/directory.js'
import { readIdentities, type SourceIdentities } from '../snapshot/identities/list.js'
import { formatLsn } from '../sources/postgres/replication/lsn.js'
import {
  checkPublication,
  readServer,
  refusal,
  type ServerState,
} from '../sources/postgres/replication/slot.js'
import { describeTable, type FollowedTable } from '../sources/postgres/replication/table.js'
import { withSession } from '../sources/postgres/session.js'
import type { FollowPlan } from './plan.js'
import { type FollowState, StateFile } from './state.js'

interface LookedUp {
  readonly server: ServerState
  readonly table: FollowedTable
  readonly hasPublication: boolean
}

/** @throws OperatorError  where the table cannot be followed */
export function lookUp(plan: FollowPlan): Promise<LookedUp> {
  const { address, slot, publication, columns } = plan
  const times = { connectMs: limits.databaseConnectMs, stallMs: limits.databaseStallMs }
  return withSession(address, times, async (client) => {
    const server = await readServer(client, address, slot)
    const table = await describeTable(client, address, plan.table, columns)
    return {
      server,
      table,
      hasPublication: await checkPublication(client, address, publication, table),
    }
  })
}

export interface CheckedTable {
  readonly table: FollowedTable
  readonly state: FollowState
  /** The last batch of which any change is in the current snapshot. */
  readonly appliedSequence: number
}

/** @throws OperatorError  where changes are missing, or may be */
export async function checkFollowed(plan: FollowPlan): Promise<CheckedTable> {
  const { dataDirectory, sourceId, address, slot, publication } = plan
  const state = new StateFile(dataDirectory, sourceId).read()
  if (state === undefined) {
    throw new OperatorError(
      'Usage',
      `source ${sourceId} of ${dataDirectory} does not follow anything yet: start with --initial-copy`,
    )
  }
  const { server, table, hasPublication } = await lookUp(plan)
  const missing = (text: string) =>
    refusal(address, `${text}: changes may be missing, start again with --initial-copy`)
  if (state.slot !== slot || state.table !== table.name) {
    throw new OperatorError(
      'Usage',
      `source ${sourceId} follows ${state.table} by the slot "${state.slot}", not ${table.name} by "${slot}": ` +
        '--initial-copy starts anew',
    )
  }
  if (state.systemId !== server.systemId) throw missing('it is another server than before')
  if (!hasPublication) throw missing(`there is no publication "${publication}"`)
  const { slot: found } = server
  if (found === undefined) throw missing(`there is no slot "${slot}" any more`)
  if (!found.isOurs) throw missing(`the slot "${slot}" is one for something else`)
  if (found.isLost) throw missing(`the server did not keep what the slot "${slot}" had to send`)
  if (found.confirmedLsn > state.confirmedLsn) {
    throw missing(
      `the slot "${slot}" is at ${formatLsn(found.confirmedLsn)}, and changes were taken up to ` +
        `${formatLsn(state.confirmedLsn)} here; it was made anew or read by somebody else, or ${dataDirectory} was restored`,
    )
  }
  const sources = await identitiesWith(dataDirectory, sourceId)
  return { table, state, appliedSequence: appliedSequenceOf(sources) }
}

/** @throws OperatorError  where changes of the source could not be applied */
async function identitiesWith(
  dataDirectory: string,
  sourceId: number,
): Promise<readonly SourceIdentities[]> {
  const snapshotId = await readCurrent(dataDirectory)
  const known = snapshotId === undefined ? [] : await readIdentities(dataDirectory, snapshotId)
  const source = known.find(({ id }) => id === sourceId)
  if (source?.hasKeys === true) return known
  throw new OperatorError(
    'Usage',
    source === undefined
      ? `there is no source ${sourceId} any more in ${dataDirectory}: start again with --initial-copy`
      : `source ${sourceId} was imported without --key since: start again with --initial-copy`,
  )
}
