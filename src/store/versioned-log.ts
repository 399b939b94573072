/**
 * The latest changes to live data, each with the version that it made: whoever has taken the data at
 * one version brings itself up to date by the changes since. Readers that the log no longer reaches
 * back to read the data anew.
 *
 * The state of the log is one record of the store, in which the data may keep figures of its own, so
 * that they change together.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { Table } from './tables.js'

export interface LogState {
  /** Grows by one with each change; 0 before the first one. */
  readonly version: number
  /** The first version that the log has. */
  readonly logStart: number
  /** The sizes of the changes in the log, added up. */
  readonly loggedCount: number
}

/** What the data keeps in the state. */
type Figures<State extends LogState> = Omit<State, keyof LogState>

interface VersionedLogOptions<Change, State extends LogState> {
  /** A table of nothing else. */
  readonly table: Table<string, number>
  /** Has the state, as JSON. */
  readonly meta: Table<string, string>
  readonly stateKey: string
  /** Before the first change. */
  readonly figures: Figures<State>
  readonly sizeOf: (change: Change) => number
  /** What the sizes of all changes in the log may add up to; the oldest ones go first. */
  readonly loggedMaxCount: number
}

/** Changes are plain data. Readers refresh the tables first. */
export interface VersionedLog<Change, State extends LogState = LogState> {
  state(): State
  /**
   * Logs a change, and drops the oldest ones for it. To be called in the transaction that makes the
   * change.
   *
   * @returns the version that it makes
   */
  append(change: Change, figures: Figures<State>): number
  /**
   * Calls back with every change since a version, the oldest first.
   *
   * @returns false when the log does not have all of them; some may have been called back with
   */
  replay(sinceVersion: number, onChange: (change: Change) => void): boolean
  /**
   * SHA-256 of a change, in hexadecimal digits, by which whoever has taken the data at its version tells
   * this log from that of another store; undefined where the log does not have it.
   */
  digestOf(version: number): string | undefined
  /** Whether each change from the first one on is there. Reads all of them. */
  isWhole(): boolean
}

export function versionedLog<Change, State extends LogState = LogState>(
  options: VersionedLogOptions<Change, State>,
): VersionedLog<Change, State> {
  const { table, meta, stateKey, sizeOf, loggedMaxCount } = options

  function state(): State {
    const text = meta.get(stateKey)
    if (text !== undefined) return JSON.parse(text) as State
    return { version: 0, ...options.figures, logStart: 1, loggedCount: 0 } as unknown as State
  }

  function read(version: number): Change | undefined {
    const text = table.get(version)
    return text === undefined ? undefined : (JSON.parse(text) as Change)
  }

  return {
    state,
    append(change, figures) {
      const before = state()
      const version = before.version + 1
      let { logStart } = before
      let loggedCount = before.loggedCount + sizeOf(change)
      table.put(version, JSON.stringify(change))
      while (loggedCount > loggedMaxCount && logStart <= version) {
        const oldest = read(logStart)
        if (oldest !== undefined) loggedCount -= sizeOf(oldest)
        table.remove(logStart++)
      }
      meta.put(stateKey, JSON.stringify({ version, ...figures, logStart, loggedCount }))
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
