/**
 * The do-not-contact lists, as they are read: one that holds for all sources, and one for each source
 * that has one. Numbers are compared byte for byte.
 *
 * @module
 */
import { limits } from '../limits.js'
import { META, type Tables } from './tables.js'
import { type LogState, type VersionedLog, versionedLog } from './versioned-log.js'

/** What a list holds for: the id of a source, which need not be there, or all sources. */
export type Scope = number | 'all'

/** Of all lists together. */
interface SuppressionState extends LogState {
  readonly totalCount: number
}

/** A change in the log: what is true of these numbers now is to be read from the lists. */
export interface LoggedChange {
  readonly scope: Scope
  readonly numbers: readonly string[]
  /** Which process made it. */
  readonly maker: string
}

export type SuppressionLog = VersionedLog<LoggedChange, SuppressionState>

export interface Suppression {
  readonly scope: Scope
  readonly number: string
  /** Milliseconds since 1970. */
  readonly sinceMs: number
}

interface SuppressionList {
  readonly scope: Scope
  readonly count: number
}

/** What is read by all who have the store open. */
export interface SuppressionReader {
  version(): number
  /** The lists that are not empty: that of all sources first, then by source id. */
  lists(): SuppressionList[]
  /** Numbers of one list in the order of their bytes, those behind `after` if it is given. */
  page(scope: Scope, after: string | undefined, takeCount: number): SuppressionPage
  /** The lists that a number is on, of all of them or of those that hold for one source. */
  find(number: string, sourceId: number | undefined): Suppression[]
}

interface SuppressionPage {
  /** Of the list. */
  readonly totalCount: number
  readonly suppressions: readonly Suppression[]
  readonly isLast: boolean
}

/** The changes to the lists, as many as have `limits.suppressionLogCount` numbers. */
export function suppressionLogOf({ meta, suppressionLog: table }: Tables): SuppressionLog {
  return versionedLog({
    table,
    meta,
    stateKey: META.suppressions,
    figures: { totalCount: 0 },
    sizeOf: ({ numbers }) => numbers.length,
    loggedMaxCount: limits.suppressionLogCount,
  })
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
        number: numberOf(key),
        sinceMs: Number(value),
      }))
      const isLast = found.length <= takeCount
      return { totalCount, suppressions: isLast ? found : found.slice(0, takeCount), isLast }
    },
    find(number, sourceId) {
      refresh()
      const scopes: readonly Scope[] =
        sourceId === undefined ? readLists(tables).map(({ scope }) => scope) : ['all', sourceId]
      return scopes.flatMap((scope) => {
        const since = suppressions.get(listKey(scope, number))
        return since === undefined ? [] : [{ scope, number, sinceMs: Number(since) }]
      })
    },
  }
}

/** Where the table has a number of a list. */
export function listKey(scope: Scope, number: string): string {
  return `${scope}/${number}`
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

/** Whether a number is on a list. */
export function isOnList({ suppressions }: Tables, scope: Scope, number: string): boolean {
  return suppressions.doesExist(listKey(scope, number))
}

/** The numbers of a list in the order of their bytes, at most `limit` of those behind `after`. */
export function* numbersOf(
  { suppressions }: Tables,
  scope: Scope,
  after: string | undefined,
  limit: number,
): Generator<string> {
  for (const key of suppressions.getKeys({ ...rangeOf(scope, after), limit })) yield numberOf(key)
}

/** Keys of a list. */
function rangeOf(scope: Scope, after: string | undefined) {
  // `0` follows `/`, so that this is all that begins with the scope.
  const end = `${scope}0`
  if (after === undefined) return { start: `${scope}/`, end }
  return { start: listKey(scope, after), exclusiveStart: true, end }
}

function numberOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}
