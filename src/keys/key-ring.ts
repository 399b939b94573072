/**
 * The keys of a data directory in one front thread: whose a text is, whether it is valid now, what it permits, and how
 * much of that is left.
 *
 * @module
 */
import { TooManyRequests } from '../errors.js'
import type { KeyScope } from '../interface/key-scopes.js'
import { limits } from '../limits.js'
import { describeFault, type Log } from '../log.js'
import type { Caller } from '../pool/tasks.js'
import type { Access, ListBounds } from '../selection/access.js'
import type { KeyReader, StoredKeys } from '../store/keys.js'
import {
  beginList,
  CERTIFICATE_PLACE,
  endList,
  type KeyMemory,
  msLeftOfDay,
  noteApplied,
  noteUse,
  takeRequest,
  takeRows,
  USE_PLACES,
  type UsePlace,
} from './key-memory.js'
import {
  isSameHash,
  type KeyRecord,
  keyHash,
  keyIdOf,
  readKeyRecord,
  stateOf,
} from './key-record.js'

export interface FollowedKeys {
  /** The current keys: another object once any of them has changed. */
  readonly ring: KeyRing
  stop(): void
}

interface FollowOptions {
  readonly keys: KeyReader
  readonly memory: KeyMemory
  /** Which of the front threads this is. */
  readonly frontIndex: number
  readonly log: Log
}

/** Reads the keys of the store again when they have changed. */
export function followKeys({ keys, memory, frontIndex, log }: FollowOptions): FollowedKeys {
  let ring = new KeyRing(keys.read(), memory)
  let isFailing = false
  noteApplied(memory, frontIndex, ring.version)

  function look(): void {
    try {
      if (keys.version() === ring.version) return
      ring = new KeyRing(keys.read(), memory, ring)
      noteApplied(memory, frontIndex, ring.version)
      isFailing = false
    } catch (fault) {
      // The command that changes a key waits for this thread, and reports that it does not apply the change.
      if (!isFailing) log.error(describeFault(fault), 'the keys cannot be read again')
      isFailing = true
    }
  }

  const timer = setInterval(look, limits.keyPollMs).unref()
  return {
    get ring() {
      return ring
    },
    stop: () => clearInterval(timer),
  }
}

/**
 * Why a text is not valid:
 *
 * - `unknown`: it is not the text of a key, or there is no key of its id
 * - `wrong`: the secret is another one
 * - `expired`, `revoked`: it is right, and no longer valid
 * - `replaced`: it is right, and another secret has replaced it
 */
type Rejection = 'unknown' | 'wrong' | 'expired' | 'revoked' | 'replaced'

export type Verdict =
  | {
      readonly access: KeyAccess
      /** Where its use is noted. */
      readonly place: UsePlace
      /** Until when that holds if no key changes, in milliseconds since 1970. */
      readonly untilMs: number
    }
  | {
      readonly rejection: Rejection
      /** Only where the secret is right, since every client can send the id of a key. */
      readonly keyName?: string
    }

interface Key {
  readonly json: string
  readonly record: KeyRecord
  readonly hashes: readonly Buffer[]
  readonly access: KeyAccess
}

export class KeyRing {
  readonly version: number
  readonly #keys: ReadonlyMap<string, Key>
  /** By the certificates that stand for a key. */
  readonly #certified = new Map<string, Key>()

  /** @param before  the ring that this one follows: what has not changed stays the same object */
  constructor({ version, records }: StoredKeys, memory: KeyMemory, before?: KeyRing) {
    this.version = version
    const keys = new Map<string, Key>()
    const knownKeys = before === undefined ? keys : before.#keys
    for (const [id, json] of records) {
      const known = knownKeys.get(id)
      const key = known?.json === json ? known : keyOf(json, memory, known)
      if (key !== undefined) keys.set(id, key)
    }
    this.#keys = keys
    for (const key of keys.values()) {
      const isRevoked = key.record.revokedAt !== undefined
      for (const certificate of key.record.certificates ?? []) {
        // A revoked key keeps its certificates, and another one may have them now.
        if (!isRevoked || !this.#certified.has(certificate)) this.#certified.set(certificate, key)
      }
    }
  }

  /** Whether there is a key of this id, which is no secret. */
  has(id: string): boolean {
    return this.#keys.has(id)
  }

  /** Takes the same time for an id that is not there as for a secret that is wrong. */
  verdictOf(text: string, nowMs: number): Verdict {
    const id = keyIdOf(text)
    const key = id === undefined ? undefined : this.#keys.get(id)
    const sent = keyHash(text)
    const [first, second] = key?.hashes ?? NO_HASHES
    // Both are compared, whichever it is.
    const isFirst = isSameHash(sent, first)
    const isSecond = isSameHash(sent, second ?? NO_HASH)
    if (key === undefined) return { rejection: 'unknown' }
    const { record, access } = key
    const secret = isFirst ? record.secrets[0] : isSecond ? record.secrets[1] : undefined
    if (secret === undefined) return { rejection: 'wrong' }
    const keyName = record.name
    const state = stateOf(record, nowMs)
    if (state !== 'live') return { rejection: state, keyName }
    const untilMs = Math.min(timeOf(record.expiresAt), timeOf(secret.endsAt))
    if (untilMs <= nowMs) return { rejection: 'replaced', keyName }
    return { access, place: secret.place, untilMs }
  }

  /**
   * @param certificate  that the client has proved to have: its SHA-256 in hexadecimal digits
   * @returns undefined where it stands for no key
   */
  verdictOfCertificate(certificate: string, nowMs: number): Verdict | undefined {
    const key = this.#certified.get(certificate)
    if (key === undefined) return undefined
    const { record, access } = key
    const state = stateOf(record, nowMs)
    if (state !== 'live') return { rejection: state, keyName: record.name }
    return { access, place: CERTIFICATE_PLACE, untilMs: timeOf(record.expiresAt) }
  }
}

const NO_HASH = Buffer.alloc(32)
const NO_HASHES: readonly Buffer[] = [NO_HASH, NO_HASH]

function timeOf(time: string | undefined): number {
  return time === undefined ? Number.POSITIVE_INFINITY : Date.parse(time)
}

/** @returns undefined for a record that is damaged */
function keyOf(json: string, memory: KeyMemory, before: Key | undefined): Key | undefined {
  const read = readKeyRecord(json)
  if (read === undefined) return undefined
  // The masks of a boundary are known by its object.
  const known = before?.record.boundary
  const isKnown = known !== undefined && JSON.stringify(known) === JSON.stringify(read.boundary)
  const record = isKnown ? { ...read, boundary: known } : read
  const hashes = record.secrets.map(({ hash }) => Buffer.from(hash, 'hex'))
  return { json, record, hashes, access: new KeyAccess(record, memory) }
}

/** What a key permits, and how much of it is left. */
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

  /** Notes its use, to the second. */
  used(place: UsePlace, nowMs: number): void {
    if (nowMs - this.#notedMs[place] < 1_000) return
    this.#notedMs[place] = nowMs
    noteUse(this.#memory, this.#record.slot, place, nowMs)
  }

  /** Counts a request, unless the key has no more now: then the reason. */
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

/** It is unknown when a list ends. */
const RETRY_LIST_MS = 1_000
