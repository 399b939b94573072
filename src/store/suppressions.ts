/**
 * The suppression lists, as they are read: one that holds for all sources, and one for each source
 * that has one. Phones are compared byte for byte.
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

/** A change in the log: what is true of these phones now is to be read from the lists. */
export interface LoggedChange {
  readonly scope: Scope
  readonly numbers: readonly string[]
  /** Which process made it. */
  readonly maker: string
}

export type SuppressionLog = VersionedLog<LoggedChange, SuppressionState>

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

/** What is read by all who have the store open. */
export interface SuppressionReader {
  version(): number
  /** The lists that are not empty: that of all sources first, then by source id. */
  lists(): SuppressionList[]
  /** Phones of one list in the order of their bytes, those behind `after` if it is given. */
  page(scope: Scope, after: string | undefined, takeCount: number): SuppressionPage
  /** The lists that a phone is on, of all of them or of those that hold for one source. */
  find(phone: string, sourceId: number | undefined): Suppression[]
}

interface SuppressionPage {
  /** Of the list. */
  readonly totalCount: number
  readonly suppressions: readonly Suppression[]
  readonly isLast: boolean
}

/** The changes to the lists, as many as have `limits.suppressionLogCount` phones. */
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

/** Where the table has a phone of a list. */
export function listKey(scope: Scope, phone: string): string {
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

/** The phones of a list in the order of their bytes, at most `limit` of those behind `after`. */
export function* phonesOf(
  { suppressions }: Tables,
  scope: Scope,
  after: string | undefined,
  limit: number,
): Generator<string> {
  for (const key of suppressions.getKeys({ ...rangeOf(scope, after), limit })) yield phoneOf(key)
}

/** Keys of a list. */
function rangeOf(scope: Scope, after: string | undefined) {
  // `0` follows `/`, so that this is all that begins with the scope.
  const end = `${scope}0`
  if (after === undefined) return { start: `${scope}/`, end }
  return { start: listKey(scope, after), exclusiveStart: true, end }
}

function phoneOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}
