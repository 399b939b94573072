/**
 * Begins to follow a table with a copy of it: the slot is made first, and the copy sees what was committed before
 * the slot begins. So nothing is missing between the two, and nothing comes twice.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import {
  createPublication,
  createSlot,
  dropSlot,
  refusal,
} from '../sources/postgres/replication/slot.js'
import { type FollowedTable, selectAll } from '../sources/postgres/replication/table.js'
import { connect } from '../sources/postgres/session.js'
import { lookUp } from './check.js'
import type { FollowPlan } from './plan.js'
import { StateFile } from './state.js'

/** What to import. */
export interface TableCopy {
  readonly query: string
  readonly snapshotName: string
  readonly key: string
}

/**
 * @param importCopy  publishes the copy as a snapshot; where it fails, the slot is dropped again
 * @throws OperatorError
 */
export async function beginFollowing(
  plan: FollowPlan,
  log: Log,
  importCopy: (copy: TableCopy) => Promise<void>,
): Promise<void> {
  const { dataDirectory, sourceId, address, slot, publication } = plan
  const { server, table, hasPublication } = await lookUp(plan)
  if (server.slot !== undefined && !server.slot.isOurs) {
    throw refusal(
      address,
      `the slot "${slot}" is one for something else: name another one with --slot`,
    )
  }
  if (server.slot?.isActive === true) {
    throw refusal(
      address,
      `somebody follows by the slot "${slot}" now: end that first, or name another one with --slot`,
    )
  }
  const client = await connect(address, { connectMs: limits.databaseConnectMs }, true)
  try {
    if (!hasPublication) await createPublication(client, address, publication, table)
    const state = new StateFile(dataDirectory, sourceId)
    // From here on nobody goes on by the old slot, should this fail.
    state.remove()
    if (server.slot !== undefined) await dropSlot(client, address, slot)
    const { sinceLsn, snapshotName } = await createSlot(client, address, slot)
    log.info({ sourceId, table: table.name, slot, publication }, 'copying')
    try {
      await importCopy(copyOf(table, snapshotName))
    } catch (error) {
      await dropSlot(client, address, slot).catch(() => {
        log.warn({ slot }, 'the slot could not be dropped: drop it, or the server keeps its log')
      })
      throw error
    }
    state.write({
      systemId: server.systemId,
      slot,
      table: table.name,
      confirmedLsn: sinceLsn,
    })
  } finally {
    client.connection.stream.destroy()
  }
}

function copyOf(table: FollowedTable, snapshotName: string): TableCopy {
  return { query: selectAll(table), snapshotName, key: table.columns.key.name }
}
