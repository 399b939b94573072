/**
 * The keys of a data directory as a front thread asks for them: whose a text is, and whether it lets
 * anybody in now.
 *
 * @module
 */
import type { StoredKeys } from '../store/keys.js'
import { KeyAccess } from './key-access.js'
import { CERTIFICATE_PLACE, type KeyMemory, type UsePlace } from './key-memory.js'
import { type KeyRecord, readKeyRecord, stateOf } from './key-record.js'
import { isSameHash, keyHash, keyIdOf } from './secret.js'

/**
 * Why a text lets nobody in:
 *
 * - `unknown`: it is no text of a key, or its id is that of none
 * - `wrong`: the secret is another one
 * - `expired`, `revoked`: it is right, and its time is over
 * - `replaced`: it is right, and another secret has taken its place
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
      /** Of the key; only where the secret is right, since anybody can write the id of a key. */
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
   * Whose a TLS certificate is that the client has proved to have; undefined where it stands for no key.
   *
   * @param certificate  its SHA-256 in hexadecimal digits
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
