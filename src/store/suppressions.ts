/**
 * The suppression lists: one that holds for all sources, and one for each source that has one. Phones are compared byte
 * for byte. Each change to them is logged under the version that it makes.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { type NotMade, notMade } from './changes.js'
import { ownName } from './services.js'
import { assertOfNoCluster, META, raiseFormat, SUPPRESSING_FORMAT, type Tables } from './tables.js'

/** The sources that a list is for: all, or that of an id, which need not exist. */
export type Scope = number | 'all'

/** A change in the log. Whether these phones are suppressed now is to be read from the lists. */
export interface LoggedChange {
  readonly scope: Scope
  readonly numbers: readonly string[]
  /** The process that made it. */
  readonly maker: string
}

export interface Suppression {
  readonly scope: Scope
  readonly phone: string
  /** Milliseconds since 1970. */
  readonly sinceMs: number
}

interface SuppressionList {
  readonly scope: Scope
  readonly count: number
}

export interface SuppressionReader {
  version(): number
  /** The lists that are not empty: that of all sources first, then by source id. */
  lists(): SuppressionList[]
  /** Phones of one list in the order of their bytes, behind `after` if it is given. */
  page(scope: Scope, after: string | undefined, takeCount: number): SuppressionPage
  /** The lists that have a phone, among all lists or the ones for a source. */
  find(phone: string, sourceId: number | undefined): Suppression[]
}

interface SuppressionPage {
  /** The length of the list. */
  readonly totalCount: number
  readonly suppressions: readonly Suppression[]
  readonly isLast: boolean
}

export function suppressionReader(tables: Tables): SuppressionReader {
  const { suppressions, suppressionCounts, refresh } = tables
  const log = suppressionLogOf(tables)
  return {
    version() {
      refresh()
      return log.state().version
    },
    lists() {
      refresh()
      return readLists(tables)
    },
    page(scope, after, takeCount) {
      refresh()
      const totalCount = Number(suppressionCounts.get(String(scope)) ?? 0)
      const range = { ...rangeOf(scope, after), limit: takeCount + 1 }
      const found = Array.from(suppressions.getRange(range), ({ key, value }) => ({
        scope,
        phone: phoneOf(key),
        sinceMs: Number(value),
      }))
      const isLast = found.length <= takeCount
      return { totalCount, suppressions: isLast ? found : found.slice(0, takeCount), isLast }
    },
    find(phone, sourceId) {
      refresh()
      const scopes: readonly Scope[] =
        sourceId === undefined ? readLists(tables).map(({ scope }) => scope) : ['all', sourceId]
      return scopes.flatMap((scope) => {
        const since = suppressions.get(listKey(scope, phone))
        return since === undefined ? [] : [{ scope, phone, sinceMs: Number(since) }]
      })
    },
  }
}

/** The key of a phone on a list. */
function listKey(scope: Scope, phone: string): string {
  return `${scope}/${phone}`
}

/** That of all sources first, then by source id. */
export function readLists({ suppressionCounts }: Tables): SuppressionList[] {
  const lists = Array.from(
    suppressionCounts.getRange({}),
    ({ key, value }): SuppressionList => ({
      scope: key === 'all' ? 'all' : Number(key),
      count: Number(value),
    }),
  )
  const rank = ({ scope }: SuppressionList) => (scope === 'all' ? -1 : scope)
  return lists.sort((a, b) => rank(a) - rank(b))
}

/** Whether a phone is on a list. */
export function isOnList({ suppressions }: Tables, scope: Scope, phone: string): boolean {
  return suppressions.doesExist(listKey(scope, phone))
}

/** The phones of a list in the order of their bytes, at most `limit`, behind `after` if it is given. */
export function* phonesOf(
  { suppressions }: Tables,
  scope: Scope,
  after: string | undefined,
  limit: number,
): Generator<string> {
  for (const key of suppressions.getKeys({ ...rangeOf(scope, after), limit })) yield phoneOf(key)
}

function rangeOf(scope: Scope, after: string | undefined) {
  // `0` follows `/`, so that this is all that begins with the scope.
  const end = `${scope}0`
  if (after === undefined) return { start: `${scope}/`, end }
  return { start: listKey(scope, after), exclusiveStart: true, end }
}

function phoneOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

export interface SuppressionChange {
  readonly kind: 'suppressions'
  readonly scope: Scope
  /** At most `limits.suppressionBatchCount`; one that is given twice counts once. */
  readonly phones: readonly string[]
  /** Whether they are removed from the list. */
  readonly isRemoval: boolean
}

export interface SuppressionsChanged {
  /** The version of the lists after this change. */
  readonly version: number
  /** Phones that were added or removed. */
  readonly changedCount: number
  /** Phones that were on the list already, or were not on it. */
  readonly unchangedCount: number
  /** Phones that are on the list now. */
  readonly listCount: number
}

/** A fault is a value, since an error loses its code between threads. */
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
    // If LMDB has failed, reading says so, while beginning a change would end the process.
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

/**
 * To be called within a transaction.
 *
 * @param made  the process that makes the change, for the log, and the time
 * @throws ServiceError  TooManySuppressions, before anything is changed
 */
export function applySuppressions(
  tables: Tables,
  { scope, phones, isRemoval }: SuppressionChange,
  made: { readonly maker: string; readonly atMs: number },
): SuppressionsChanged {
  const { suppressions, suppressionCounts } = tables
  const { maker, atMs } = made
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
  const version = log.append({ scope, numbers: changed, maker }, totalCount)
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

/** The figures of the lists and of the log of their changes: one record, so that they change together. */
interface SuppressionState {
  /** Grows by one with each change; 0 before the first one. */
  readonly version: number
  /** Phones on all lists. */
  readonly totalCount: number
  /** The first version that the log has. */
  readonly logStart: number
  /** Phones of the changes in the log. */
  readonly loggedCount: number
}

/**
 * The latest changes to the lists, by the version that each of them made: readers that are at one version apply the changes
 * since, and read the lists anew if the log does not reach back so far. Readers refresh the tables first.
 */
export interface SuppressionLog {
  state(): SuppressionState
  /**
   * Logs a change, and drops the oldest ones for it. To be called in the transaction that makes the change.
   *
   * @returns the version that it makes
   */
  append(change: LoggedChange, totalCount: number): number
  /**
   * Calls back with every change since a version, the oldest first.
   *
   * @returns false if the log does not have all of them; there may have been calls all the same
   */
  replay(sinceVersion: number, onChange: (change: LoggedChange) => void): boolean
  /**
   * SHA-256 of a change, in hexadecimal digits, which tells this log from that of another store; undefined if the log does
   * not have the change.
   */
  digestOf(version: number): string | undefined
  /** Whether each change from the first one on is there. Reads all of them. */
  isWhole(): boolean
}

export function suppressionLogOf({ meta, suppressionLog: table }: Tables): SuppressionLog {
  function state(): SuppressionState {
    const text = meta.get(META.suppressions)
    return text === undefined ? NO_CHANGES : (JSON.parse(text) as SuppressionState)
  }

  function read(version: number): LoggedChange | undefined {
    const text = table.get(version)
    return text === undefined ? undefined : (JSON.parse(text) as LoggedChange)
  }

  return {
    state,
    append(change, totalCount) {
      const before = state()
      const version = before.version + 1
      let { logStart } = before
      let loggedCount = before.loggedCount + change.numbers.length
      table.put(version, JSON.stringify(change))
      while (loggedCount > limits.suppressionLogCount && logStart <= version) {
        loggedCount -= read(logStart)?.numbers.length ?? 0
        table.remove(logStart++)
      }
      meta.put(META.suppressions, JSON.stringify({ version, totalCount, logStart, loggedCount }))
      return version
    },
    replay(sinceVersion, onChange) {
      const { version, logStart } = state()
      if (sinceVersion > version || sinceVersion + 1 < logStart) return false
      for (let each = sinceVersion + 1; each <= version; each++) {
        const change = read(each)
        if (change === undefined) return false
        onChange(change)
      }
      return true
    },
    digestOf(version) {
      const text = table.get(version)
      return text === undefined ? undefined : createHash('sha256').update(text).digest('hex')
    },
    isWhole() {
      const { version, logStart } = state()
      for (const { value } of table.getRange({})) JSON.parse(value)
      return table.getCount() === version - logStart + 1
    },
  }
}

const NO_CHANGES: SuppressionState = { version: 0, totalCount: 0, logStart: 1, loggedCount: 0 }
