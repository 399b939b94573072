/**
 * Begins to follow a table with a copy of it: the slot is made first, and the copy sees what was committed before
 * the slot begins. So nothing is missing between the two, and nothing comes twice. The slot goes with its connection until
 * the copy is there: no end of this process leaves one for which the server keeps its log.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import {
  identityFault,
  isRewritten,
  mayBeRenamed,
} from '../sources/postgres/replication/identity.js'
import {
  createPublication,
  createSlot,
  dropSlot,
  keepSlot,
  readLog,
  refusal,
} from '../sources/postgres/replication/slot.js'
import { type FollowedTable, selectAll } from '../sources/postgres/replication/table.js'
import type { Waiting } from '../sources/postgres/replication/wait.js'
import { connect, withoutIdleTimeouts } from '../sources/postgres/session.js'
import { lookUp } from './check.js'
import type { FollowPlan } from './plan.js'
import { rulesOf, StateFile } from './state.js'
import { lastSequence } from './taken.js'

/** What to import. */
export interface TableCopy {
  readonly query: string
  readonly snapshotName: string
  readonly key: string
}

/**
 * @param signal  gives it up while it waits for others
 * @param importCopy  publishes the copy as a snapshot
 * @returns  whether there is a copy: false if the signal came first
 * @throws OperatorError
 */
export async function beginFollowing(
  plan: FollowPlan,
  log: Log,
  signal: AbortSignal,
  importCopy: (copy: TableCopy) => Promise<void>,
): Promise<boolean> {
  const { dataDirectory, sourceId, address, slot, publication, rowOptions } = plan
  const { server, table: found, hasPublication } = await lookUp(plan, plan.columns)
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
  if (signal.aborted) return false
  const waiting: Waiting = {
    signal,
    onWait: (blockers) =>
      log.warn({ blockers }, 'waiting for open transactions of the server to end'),
  }
  const client = await connect(address, { connectMs: limits.databaseConnectMs }, true)
  try {
    // It is idle in a transaction while the copy is made.
    await client.query(withoutIdleTimeouts('false'))
    if (!hasPublication) await createPublication(client, address, publication, found, waiting)
    const { table, identity } = await lookUp(plan, plan.columns)
    const { timeline } = await readLog(client)
    const state = new StateFile(dataDirectory, sourceId)
    // From here on nobody goes on by the old slot, should this fail.
    state.remove()
    await dropSlot(client, address, slot)
    // A machine that is gone does not say so.
    await client.query('SET tcp_keepalives_idle = 60')
    const made = await createSlot(client, address, waiting)
    log.info({ sourceId, table: table.name, slot, publication }, 'copying')
    await importCopy(copyOf(table, made.snapshotName))
    const { identity: after } = await lookUp(plan, plan.columns)
    // What a rewrite leaves is not seen by a snapshot from before it.
    const isAltered = isRewritten(identity, after) || mayBeRenamed(identity, after)
    if (isAltered || identityFault(identity, after) !== undefined) {
      throw refusal(address, `${table.name} was altered while it was copied: start again`)
    }
    const isForStandbys = server.version >= 170_000 && !server.isStandby
    try {
      await keepSlot(client, address, made, slot, isForStandbys)
      const sequence = lastSequence(dataDirectory)
      state.write({
        systemId: server.systemId,
        slot,
        table: table.name,
        confirmedLsn: made.sinceLsn,
        timeline,
        lastCommit: { lsn: made.sinceLsn, xid: 0, time: 0n },
        identity,
        rules: rulesOf(rowOptions),
        copySequence: sequence,
        sequence,
      })
    } catch (error) {
      await dropAbandoned(plan).catch(() => {
        log.warn({ slot }, 'the slot could not be dropped: drop it, or the server keeps its log')
      })
      throw error
    }
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  } finally {
    client.connection.stream.destroy()
  }
}

/** By a connection of its own: the other one may be what failed. */
async function dropAbandoned({ address, slot }: FollowPlan): Promise<void> {
  const client = await connect(address, { connectMs: limits.databaseConnectMs }, true)
  try {
    await dropSlot(client, address, slot)
  } finally {
    client.connection.stream.destroy()
  }
}

function copyOf(table: FollowedTable, snapshotName: string): TableCopy {
  return { query: selectAll(table), snapshotName, key: table.columns.key.name }
}
