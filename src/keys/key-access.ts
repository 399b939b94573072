/**
 * What a key lets its client do, and how much of it is left.
 *
 * @module
 */
import { TooManyRequests } from '../errors.js'
import type { KeyScope } from '../interface/key-scopes.js'
import type { Caller } from '../pool/messages.js'
import type { Access, ListBounds } from '../selection/access.js'
import {
  beginList,
  endList,
  type KeyMemory,
  msLeftOfDay,
  noteUse,
  takeRequest,
  takeRows,
  USE_PLACES,
  type UsePlace,
} from './key-memory.js'
import type { KeyRecord } from './key-record.js'

export class KeyAccess implements Access, ListBounds {
  readonly keyName: string
  readonly boundary: object | undefined
  readonly #scopes: ReadonlySet<KeyScope>
  readonly #record: KeyRecord
  readonly #memory: KeyMemory
  /** Callers that have a list of this key under way. */
  readonly #listing = new WeakSet<Caller>()
  readonly #notedMs: number[] = USE_PLACES.map(() => 0)

  constructor(record: KeyRecord, memory: KeyMemory) {
    this.keyName = record.name
    this.boundary = record.boundary
    this.#scopes = new Set(record.scopes)
    this.#record = record
    this.#memory = memory
  }

  get lists(): ListBounds | undefined {
    const { rowsPerDay, concurrentLists } = this.#record
    return rowsPerDay === undefined && concurrentLists === undefined ? undefined : this
  }

  allows(scope: KeyScope): boolean {
    return this.#scopes.has(scope) || this.#scopes.has('admin')
  }

  /** Notes that it was used, to the second. */
  used(place: UsePlace, nowMs: number): void {
    if (nowMs - this.#notedMs[place] < 1_000) return
    this.#notedMs[place] = nowMs
    noteUse(this.#memory, this.#record.slot, place, nowMs)
  }

  /** Why it may ask nothing now; undefined when it may, and then that is counted. */
  takeRequest(): TooManyRequests | undefined {
    const { slot, requestsPerSecond } = this.#record
    if (requestsPerSecond === undefined) return undefined
    const nowNs = process.hrtime.bigint()
    const earlyNs = takeRequest(this.#memory, slot, requestsPerSecond, nowNs)
    if (earlyNs === 0n) return undefined
    const problem = `this key may ask ${requestsPerSecond} times a second`
    return new TooManyRequests(problem, Number(earlyNs) / 1_000_000)
  }

  begin(caller: Caller): void {
    const { slot, concurrentLists } = this.#record
    if (concurrentLists === undefined || this.#listing.has(caller)) return
    if (!beginList(this.#memory, slot, concurrentLists)) {
      const problem = `this key may have ${concurrentLists} lists at a time`
      throw new TooManyRequests(problem, RETRY_LIST_MS)
    }
    this.#listing.add(caller)
    caller.whenOver(() => endList(this.#memory, slot))
  }

  take(rowCount: number): void {
    const { slot, rowsPerDay } = this.#record
    if (rowsPerDay === undefined) return
    const nowMs = Date.now()
    const rows = { count: rowCount, perDay: rowsPerDay }
    const { isTaken, leftCount } = takeRows(this.#memory, slot, rows, nowMs)
    if (isTaken) return
    const problem = `this list has ${rowCount} rows, and this key has ${leftCount} of ${rowsPerDay} left today`
    throw new TooManyRequests(`${problem} (UTC)`, msLeftOfDay(nowMs))
  }
}

/** Nobody knows when a list ends. */
const RETRY_LIST_MS = 1_000
