/**
 * Changes to the do-not-contact lists: numbers put on one, or taken off it, all of a batch or none.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type NotMade, notMade } from './changes.js'
import { ownName } from './services.js'
import {
  isOnList,
  type LoggedChange,
  listKey,
  readState,
  type Scope,
  type SuppressionState,
} from './suppressions.js'
import { META, SUPPRESSING_FORMAT, type Tables } from './tables.js'

export interface SuppressionChange {
  readonly kind: 'suppressions'
  readonly scope: Scope
  /** At most `limits.suppressionBatchCount`; one that is given twice counts once. */
  readonly numbers: readonly string[]
  /** Whether they are taken off the list. */
  readonly isRemoval: boolean
}

/** What a change did. */
export interface SuppressionsChanged {
  /** Of the lists, with this change. */
  readonly version: number
  /** Numbers that were put on the list, or taken off it. */
  readonly changedCount: number
  /** Numbers that were on the list already, or were not on it. */
  readonly unchangedCount: number
  /** Numbers that are on the list now. */
  readonly listCount: number
}

/** What became of a change; a fault is a value, since an error loses its code between threads. */
export type SuppressionsOutcome =
  | { readonly isMade: true; readonly changed: SuppressionsChanged }
  | NotMade

/**
 * Makes changes, each whole or not at all, and all that can be made in one transaction. They are on
 * disk when this returns. A fault of the disk is logged here.
 */
export function makeSuppressions(
  tables: Tables,
  changes: readonly SuppressionChange[],
  log: Log,
): SuppressionsOutcome[] {
  const make = (change: SuppressionChange): SuppressionsOutcome => {
    try {
      return { isMade: true, changed: applySuppressions(tables, change, ownName) }
    } catch (fault) {
      if (fault instanceof ServiceError) return notMade(fault, change.kind, log)
      throw fault
    }
  }
  try {
    // Where LMDB has given up, it says so when it is read; to begin a change would end the process.
    tables.refresh()
    readState(tables)
    return tables.transact(() => changes.map(make))
  } catch (fault) {
    const outcome = notMade(fault, 'suppressions', log)
    return changes.map(() => outcome)
  }
}

/**
 * To be called within a transaction. What it throws, it throws before it has changed anything.
 *
 * @param maker  which process makes it
 * @throws ServiceError  TooManySuppressions
 */
export function applySuppressions(
  tables: Tables,
  { scope, numbers, isRemoval }: SuppressionChange,
  maker: string,
): SuppressionsChanged {
  const { suppressions, suppressionCounts } = tables
  const distinct = [...new Set(numbers)]
  const changed = distinct.filter((number) => isOnList(tables, scope, number) === isRemoval)
  const before = readState(tables)
  const listed = Number(suppressionCounts.get(String(scope)) ?? 0)
  const unchangedCount = distinct.length - changed.length
  if (changed.length === 0) {
    return { version: before.version, changedCount: 0, unchangedCount, listCount: listed }
  }
  const difference = isRemoval ? -changed.length : changed.length
  if (!isRemoval) refuseTooMany(tables, before.totalCount + difference, listed === 0)
  const now = String(Date.now())
  for (const number of changed) {
    if (isRemoval) suppressions.remove(listKey(scope, number))
    else suppressions.put(listKey(scope, number), now)
  }
  const listCount = listed + difference
  if (listCount === 0) suppressionCounts.remove(String(scope))
  else suppressionCounts.put(String(scope), String(listCount))
  const version = logChange(tables, before, { scope, numbers: changed, maker }, difference)
  return { version, changedCount: changed.length, unchangedCount, listCount }
}

function refuseTooMany(tables: Tables, totalCount: number, isNewList: boolean): void {
  if (totalCount > limits.suppressionCount) {
    throw new ServiceError(
      'TooManySuppressions',
      `there would be more than ${limits.suppressionCount} numbers on all lists`,
    )
  }
  if (isNewList && tables.suppressionCounts.getCount() >= limits.suppressionListCount) {
    throw new ServiceError(
      'TooManySuppressions',
      `there would be more than ${limits.suppressionListCount} lists`,
    )
  }
}

/** @returns the new version */
function logChange(
  { meta, suppressionLog }: Tables,
  before: SuppressionState,
  change: LoggedChange,
  difference: number,
): number {
  const version = before.version + 1
  let { logStart } = before
  let loggedCount = before.loggedCount + change.numbers.length
  suppressionLog.put(version, JSON.stringify(change))
  while (loggedCount > limits.suppressionLogCount) {
    const oldest = JSON.parse(suppressionLog.get(logStart) ?? '{"numbers":[]}') as LoggedChange
    loggedCount -= oldest.numbers.length
    suppressionLog.remove(logStart++)
  }
  const totalCount = before.totalCount + difference
  const after: SuppressionState = { version, totalCount, logStart, loggedCount }
  meta.put(META.suppressions, JSON.stringify(after))
  meta.put(META.format, SUPPRESSING_FORMAT)
  return version
}
