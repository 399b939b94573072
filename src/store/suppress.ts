/**
 * Changes to the suppression lists: phones put on one, or taken off it, all of a batch or none.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type NotMade, notMade } from './changes.js'
import { ownName } from './services.js'
import { isOnList, listKey, type Scope, suppressionLogOf } from './suppressions.js'
import { assertOfNoCluster, raiseFormat, SUPPRESSING_FORMAT, type Tables } from './tables.js'

export interface SuppressionChange {
  readonly kind: 'suppressions'
  readonly scope: Scope
  /** At most `limits.suppressionBatchCount`; one that is given twice counts once. */
  readonly phones: readonly string[]
  /** Whether they are taken off the list. */
  readonly isRemoval: boolean
}

/** What a change did. */
export interface SuppressionsChanged {
  /** Of the lists, with this change. */
  readonly version: number
  /** Phones that were put on the list, or taken off it. */
  readonly changedCount: number
  /** Phones that were on the list already, or were not on it. */
  readonly unchangedCount: number
  /** Phones that are on the list now. */
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
  const made = { maker: ownName, atMs: Date.now() }
  const make = (change: SuppressionChange): SuppressionsOutcome => {
    try {
      return { isMade: true, changed: applySuppressions(tables, change, made) }
    } catch (fault) {
      if (fault instanceof ServiceError) return notMade(fault, change.kind, log)
      throw fault
    }
  }
  try {
    // Where LMDB has given up, it says so when it is read; to begin a change would end the process.
    tables.refresh()
    suppressionLogOf(tables).state()
    return tables.transact(() => {
      assertOfNoCluster(tables)
      return changes.map(make)
    })
  } catch (fault) {
    const outcome = notMade(fault, 'suppressions', log)
    return changes.map(() => outcome)
  }
}

/** By whom a change is made, and when. */
interface Made {
  /** What it is logged under. */
  readonly maker: string
  /** In milliseconds since 1970. */
  readonly atMs: number
}

/**
 * To be called within a transaction. What it throws, it throws before it has changed anything.
 *
 * @throws ServiceError  TooManySuppressions
 */
export function applySuppressions(
  tables: Tables,
  { scope, phones, isRemoval }: SuppressionChange,
  { maker, atMs }: Made,
): SuppressionsChanged {
  const { suppressions, suppressionCounts } = tables
  const distinct = [...new Set(phones)]
  const changed = distinct.filter((phone) => isOnList(tables, scope, phone) === isRemoval)
  const log = suppressionLogOf(tables)
  const before = log.state()
  const listed = Number(suppressionCounts.get(String(scope)) ?? 0)
  const unchangedCount = distinct.length - changed.length
  if (changed.length === 0) {
    return { version: before.version, changedCount: 0, unchangedCount, listCount: listed }
  }
  const difference = isRemoval ? -changed.length : changed.length
  if (!isRemoval) refuseTooMany(tables, before.totalCount + difference, listed === 0)
  const now = String(atMs)
  for (const phone of changed) {
    if (isRemoval) suppressions.remove(listKey(scope, phone))
    else suppressions.put(listKey(scope, phone), now)
  }
  const listCount = listed + difference
  if (listCount === 0) suppressionCounts.remove(String(scope))
  else suppressionCounts.put(String(scope), String(listCount))
  const totalCount = before.totalCount + difference
  const version = log.append({ scope, numbers: changed, maker }, { totalCount })
  raiseFormat(tables, SUPPRESSING_FORMAT)
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
