/**
 * Whether the changes of a table can be read, and go on where they were read last.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { appliedSequenceOf } from '../snapshot/applied-sequence.js'
import { readCurrent } from '../snapshot/directory.js'
import { readIdentities, type SourceIdentities } from '../snapshot/identities/list.js'
import type { ColumnNames } from '../sources/batch.js'
import {
  identityFault,
  mayBeRenamed,
  readIdentity,
  type TableIdentity,
} from '../sources/postgres/replication/identity.js'
import { formatLsn } from '../sources/postgres/replication/lsn.js'
import {
  checkPublication,
  readLog,
  readServer,
  refusal,
  type ServerState,
  SLOT_IN_USE,
  switchOf,
} from '../sources/postgres/replication/slot.js'
import { describeTable, type FollowedTable } from '../sources/postgres/replication/table.js'
import { type Session, withSession } from '../sources/postgres/session.js'
import type { FollowPlan } from './plan.js'
import { CopyNeeded, type FollowState, rulesOf, StateFile, withIdentity } from './state.js'
import { takenBehind } from './taken.js'

interface LookedUp {
  readonly server: ServerState
  readonly table: FollowedTable
  readonly hasPublication: boolean
  readonly identity: TableIdentity
}

/**
 * @param columns  their names, as far as they need not be guessed
 * @throws OperatorError  where the table cannot be followed
 */
export function lookUp(plan: FollowPlan, columns: ColumnNames): Promise<LookedUp> {
  const { address, slot, publication } = plan
  const times = { connectMs: limits.databaseConnectMs, stallMs: limits.databaseStallMs }
  return withSession(address, times, async (client) => {
    const server = await readServer(client, address, slot)
    const table = await describeTable(client, address, plan.table, columns)
    return {
      server,
      table,
      hasPublication: await checkPublication(client, address, publication, table),
      identity: await identityOf(client, plan, table),
    }
  })
}

async function identityOf(
  client: Session,
  { address, publication }: FollowPlan,
  table: FollowedTable,
): Promise<TableIdentity> {
  const found = await readIdentity(client, table, publication)
  if (found !== undefined) return found
  throw refusal(address, `there is no table ${table.name} any more`)
}

export interface CheckedTable {
  readonly table: FollowedTable
  readonly state: FollowState
  /** The server sends what was committed behind it. */
  readonly slotLsn: bigint
  readonly isStandby: boolean
  /** Places of transactions behind that of the state, which came, too. */
  readonly taken: ReadonlySet<bigint>
  /** The last batch of which any change is in the current snapshot. */
  readonly appliedSequence: number
}

/** @throws OperatorError  where changes are missing, or may be */
export async function checkFollowed(plan: FollowPlan): Promise<CheckedTable> {
  const { dataDirectory, sourceId, address, slot, publication, rowOptions } = plan
  const state = new StateFile(dataDirectory, sourceId).read()
  if (state === undefined) {
    throw new OperatorError(
      'Usage',
      `source ${sourceId} of ${dataDirectory} does not follow anything yet: start with --initial-copy`,
    )
  }
  if (state.stopped !== undefined) throw new CopyNeeded(state.stopped)
  const { identity: kept } = state
  const names = Object.entries(kept?.columns ?? {}).map(([role, { name }]) => [role, name])
  const looked = await lookUp(plan, { ...Object.fromEntries(names), ...plan.columns })
  const { server, hasPublication, identity } = looked
  const table = kept === undefined ? looked.table : withContactOf(kept, plan, looked.table)
  assertAsked(plan, state, table, identity)
  const missing = (text: string) =>
    refusal(address, `${text}: changes may be missing, start again with --initial-copy`)
  if (state.systemId !== server.systemId) throw missing('it is another server than before')
  if (!hasPublication) throw missing(`there is no publication "${publication}"`)
  const { slot: found, isStandby } = server
  if (found === undefined) {
    const none = `there is no slot "${slot}" any more`
    // A standby may become the server that has it.
    if (isStandby) throw passing(`${none}, and the server is a standby`)
    throw missing(none)
  }
  if (!found.isOurs) throw missing(`the slot "${slot}" is one for something else`)
  if (isStandby && found.isSynced) {
    throw passing(`the slot "${slot}" is that of another server, and this one is a standby`)
  }
  if (found.lostBy !== undefined) {
    throw missing(`the server did not keep what the slot "${slot}" had to send (${found.lostBy})`)
  }
  // Whoever uses it may still move it.
  if (found.isActive) throw inUse(slot)
  if (found.confirmedLsn > state.confirmedLsn) {
    throw missing(
      `the slot "${slot}" is at ${formatLsn(found.confirmedLsn)}, and changes were taken up to ` +
        `${formatLsn(state.confirmedLsn)} here; it was made anew or read by somebody else, or ${dataDirectory} was restored`,
    )
  }
  if (kept !== undefined) assertSame(plan, table, kept, identity, state.moved)
  const sources = await identitiesWith(dataDirectory, sourceId)
  return {
    table,
    state: {
      ...(kept !== undefined && mayBeRenamed(kept, identity)
        ? state
        : withIdentity(state, identity)),
      table: table.name,
      rules: rulesOf(rowOptions),
    },
    slotLsn: found.confirmedLsn,
    isStandby,
    taken: takenBehind(dataDirectory, sourceId, state),
    appliedSequence: appliedSequenceOf(sources),
  }
}

/** A column that came later is not taken for the contact. */
function withContactOf(
  { columns }: TableIdentity,
  plan: FollowPlan,
  table: FollowedTable,
): FollowedTable {
  if (columns.contact !== undefined || plan.columns.contact !== undefined) return table
  return { ...table, columns: { ...table.columns, contact: undefined } }
}

/** @throws OperatorError  Usage, where something else is asked for than is followed */
function assertAsked(
  { sourceId, slot, publication, columns, rowOptions }: FollowPlan,
  state: FollowState,
  table: FollowedTable,
  identity: TableIdentity,
): void {
  const other = (before: string, now: string) =>
    new OperatorError(
      'Usage',
      `source ${sourceId} follows ${before}, not ${now}: --initial-copy starts anew`,
    )
  const { identity: kept, rules } = state
  const isOtherTable = state.table !== table.name && kept?.table !== identity.table
  if (state.slot !== slot || isOtherTable) {
    throw other(`${state.table} by the slot "${state.slot}"`, `${table.name} by "${slot}"`)
  }
  if (rules !== undefined && rules !== rulesOf(rowOptions)) {
    throw other(rules || 'without rules', rulesOf(rowOptions) || 'without rules')
  }
  const before = kept?.publication?.name
  if (before !== undefined && before !== publication) {
    throw other(`by the publication "${before}"`, `by "${publication}"`)
  }
  for (const [role, name] of Object.entries(columns)) {
    const column = kept?.columns[role as keyof ColumnNames]
    if (kept === undefined || name === undefined || name === column?.name) continue
    // It may have been renamed.
    if (identity.columns[role as keyof ColumnNames]?.number === column?.number) continue
    throw other(column === undefined ? `no --${role}` : `--${role} ${column.name}`, name)
  }
}

/** @throws CopyNeeded  where rows may be others than the log tells */
function assertSame(
  { address }: FollowPlan,
  { name }: FollowedTable,
  kept: TableIdentity,
  found: TableIdentity,
  moved: FollowState['moved'] = [],
): void {
  const fault = identityFault(kept, found, moved.length > 0)
  if (fault === undefined) return
  const { message } = refusal(
    address,
    `${name} ${fault}: changes may be missing, start again with --initial-copy`,
  )
  throw new CopyNeeded(message)
}

/**
 * Whether the table is still what it was, while it is followed.
 *
 * @returns what it is now
 * @throws OperatorError
 */
export async function checkAgain(
  client: Session,
  plan: FollowPlan,
  table: FollowedTable,
  kept: TableIdentity,
  moved: FollowState['moved'],
): Promise<TableIdentity> {
  const found = await identityOf(client, plan, table)
  assertSame(plan, table, kept, found, moved)
  // It takes a lock of the table, which VACUUM FULL holds for long.
  if (!isDeepStrictEqual(found.publication, kept.publication)) {
    await checkPublication(client, plan.address, plan.publication, table)
  }
  return found
}

/**
 * The state in the log that the server has now: after a failover, where it left that of before.
 *
 * @param client  of a connection that replicates
 * @throws OperatorError  where the server does not have what was taken
 */
export async function checkLog(
  client: Session,
  { address }: FollowPlan,
  { state, slotLsn, isStandby, taken }: CheckedTable,
): Promise<FollowState> {
  const { confirmedLsn, lastCommit, timeline: before, identity } = state
  const { timeline, endLsn } = await readLog(client)
  const furthest = [confirmedLsn, ...taken].reduce((one, other) => (one > other ? one : other))
  const missing = (text: string) => {
    const advice = 'changes may be missing, start again with --initial-copy'
    return new CopyNeeded(
      refusal(
        address,
        `${text}, and changes were taken up to ${formatLsn(furthest)} here: ${advice}`,
      ).message,
    )
  }
  if (before === undefined || before === timeline) {
    if (isStandby || endLsn >= furthest) return { ...state, timeline }
    throw missing(`the log of the server ends at ${formatLsn(endLsn)}, as if it was set back`)
  }
  if (timeline < before) {
    throw refusal(
      address,
      `the server is on timeline ${timeline}, and was on ${before}: is it the old one of a failover?`,
    )
  }
  const leftLsn = await switchOf(client, before, timeline)
  const isKept =
    leftLsn !== undefined &&
    slotLsn <= leftLsn &&
    [lastCommit?.lsn ?? confirmedLsn, ...taken].every((lsn) => lsn < leftLsn)
  if (isKept) {
    return {
      ...state,
      timeline,
      confirmedLsn: leftLsn < confirmedLsn ? leftLsn : confirmedLsn,
      // Numbers of transactions that were lost are given again.
      identity: identity && { ...identity, horizon: undefined },
    }
  }
  throw missing(
    leftLsn === undefined
      ? `timeline ${timeline} of the server does not come from ${before}`
      : `the server left timeline ${before} at ${formatLsn(leftLsn)}`,
  )
}

/** What another attempt may find otherwise. */
function passing(text: string): Error {
  return Object.assign(new Error(text), { code: '57P03' })
}

/** As the server says it. */
function inUse(slot: string): Error {
  return Object.assign(new Error(`the slot "${slot}" is in use`), { code: SLOT_IN_USE })
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
